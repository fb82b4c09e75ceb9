"""A robot that takes a questionnaire in Chromium: it chooses by given worths, and hands in the
file."""

import json

import numpy as np

ARROWS = {0: "ArrowLeft", 1: "ArrowRight"}
READY = "#main[data-ready]"


class Robot:
    """A person with worths who answers a page.

    Parameters
    ----------
    page : playwright page
    worths : dict
        Label of an option -> its worth; of a product, attribute -> level -> utility.
    seed : int
    how : str
        "click", "keyboard" or "double": how it answers.
    facts : list of str
        What it says of itself.
    hurried : bool
        Whether the clock of the page is moved, so that nobody waits for clicks that count.
    """

    def __init__(self, page, worths, seed=0, how="click", facts=(), hurried=True):
        self.worths, self.how, self.hurried = worths, how, hurried
        self.faults = []
        if hurried:
            page.context.clock.install()
        self.on(page)
        self.rng = np.random.default_rng(seed)
        self.facts = facts
        self.given = []  # what it answered, in order: (labels as shown, picks)

    def on(self, page):
        """Go on with that page."""
        self.page = page
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def open(self, address):
        """Open the page."""
        self.page.goto(address)
        return self

    def ready(self):
        """Wait until the page takes answers."""
        if self.hurried:
            self.page.clock.run_for(300)
        self.page.wait_for_selector(READY, state="attached")

    def press(self, selector):
        """Press a button, in its own way."""
        self.ready()
        node = self.page.locator(selector).first
        if self.how == "keyboard":
            node.focus()
            self.page.keyboard.press("Enter")
        elif self.how == "double":
            node.dblclick()
        else:
            node.click()

    def take(self, most=300, between=lambda robot: None):
        """Answer until the end, or so many trials; `between` trials something else may happen."""
        for _ in range(most):
            assert not self.faults, self.faults
            between(self)
            if self.page.locator(".trial").count():
                self.answer()
            elif self.page.locator("#hand-over").count():
                return self
            elif self.page.locator("form").count():
                self.fill()
            elif self.page.locator("#main button.main").count():
                self.press("#main button.main")
            else:  # the next question is on its way
                self.ready()
        return self

    def fill(self):
        """Answer the questions about the person."""
        self.ready()
        for k, fact in enumerate(self.facts):
            if self.page.locator(f"#question-{k}").count():
                self.page.fill(f"#question-{k}", fact)
            else:
                self.page.locator(f"input[name=question-{k}][value='{fact}']").check()
        self.press("#main button.main")

    def shown(self):
        """The labels of the options of a trial, in order."""
        return self.page.locator(".option .label, .shown .label").all_inner_texts()

    def draw(self, labels):
        """A place, by Luce's choice rule."""
        chances = np.array([self.worth(label) for label in labels])
        return int(self.rng.choice(len(labels), p=chances / chances.sum()))

    def worth(self, label):
        """Of an option; of what is no option of the study as given, or next to nothing."""
        return self.worths.get(label, 1e-9)

    def before_each(self):
        """What may happen before each press."""

    def option(self, place):
        """Choose the option there."""
        self.before_each()
        if self.how == "keyboard" and place < 9:
            self.ready()
            two = self.page.locator(".option").count() == 2
            self.page.keyboard.press(
                ARROWS[place] if two and self.rng.random() < 0.5 else str(place + 1)
            )
        else:
            self.press(f"#option-{place}")

    def answer(self):
        """Answer the trial that is open."""
        self.ready()
        getattr(self, "answer_" + self.kind().replace("-", "_"))()

    def kind(self):
        """What the page asks."""
        return json.loads(self.page.locator("#study").text_content())["kind"]

    def answer_pairs(self):
        """Choose one of two, or neither where that is possible and they are alike."""
        labels = self.shown()
        place = self.draw(labels)
        self.given.append((labels, place))
        self.option(place)

    answer_best = answer_pairs

    def alike(self, one, other):
        """The log of how alike two options are; worths are places on a line."""
        return -abs(self.worth(one) - self.worth(other))

    def answer_odd_one_out(self):
        """Leave the two together that are most alike."""
        a, b, c = labels = self.shown()
        alike = np.exp([self.alike(b, c), self.alike(a, c), self.alike(a, b)])
        place = int(self.rng.choice(3, p=alike / alike.sum()))
        self.given.append((labels, place))
        self.option(place)

    def ranked(self, labels):
        """Places in order, by Luce's choice rule again and again."""
        left, order = list(range(len(labels))), []
        while left:
            order.append(left.pop(self.draw([labels[k] for k in left])))
        return order

    def answer_best_worst(self):
        """The first and the last of a ranking."""
        labels = self.shown()
        best, *_, worst = self.ranked(labels)
        self.given.append((labels, (best, worst)))
        self.option(best)
        self.option(worst)

    def answer_ranking(self):
        """One after the other; the last one falls into place."""
        labels = self.shown()
        order = self.ranked(labels)
        self.given.append((labels, tuple(order)))
        for place in order[:-1]:
            self.option(place)
        self.press("#next")

    def answer_ratings(self):
        """A step of the scale, with an error."""
        labels = self.shown()
        steps = self.page.locator(".step").count()
        value = int(
            np.clip(round(steps * np.exp(self.alike(*labels)) + self.rng.normal(0, 0.5)), 1, steps)
        )
        self.given.append((labels, value))
        self.before_each()
        if self.how == "keyboard":
            self.ready()
            self.page.keyboard.press(str(value % 10))
        else:
            self.press(f".step >> nth={value - 1}")

    def answer_choice(self):
        """A product, or none, by a logit."""
        cards = self.page.locator(".product").all()
        cells = [
            dict(
                zip(
                    card.locator(".name").all_inner_texts(),
                    card.locator(".level").all_inner_texts(),
                    strict=True,
                )
            )
            for card in cards
        ]
        utility = [
            sum(self.worths[name][level] for name, level in product.items()) for product in cells
        ]
        none = self.page.locator("#main [aria-keyshortcuts='0']")
        if none.count():
            utility.append(self.worths.get("none", 0.0))
        chances = np.exp(utility)
        place = int(self.rng.choice(len(chances), p=chances / chances.sum()))
        self.given.append((cells, place))
        if place < len(cards):
            self.option(place)
            if self.page.locator("#really").count():
                self.press("#main button.main")
        else:
            self.press("#main [aria-keyshortcuts='0']")

    def hand_in(self, folder):
        """Save the answers into a folder; the path of the file."""
        self.ready()
        with self.page.expect_download() as saved:
            self.page.locator("#hand-over button.main").click()
        path = folder / saved.value.suggested_filename
        saved.value.save_as(path)
        return path


class Interrupted(Robot):
    """A person who reloads, goes back, closes the tab, loses the connection, opens two tabs, clicks
    twice."""

    def __init__(self, page, worths, seed=0, chance=0.3, **settings):
        super().__init__(page, worths, seed, **settings)
        self.chance, self.happened = chance, []

    def before_each(self):
        """Perhaps an interruption, after which the trial is as it was."""
        self.how = str(self.rng.choice(["click", "keyboard", "double"]))
        if self.rng.random() < self.chance:
            what = str(
                self.rng.choice(["reload", "back", "away", "close", "offline", "twin", "resize"])
            )
            self.happened.append(what)
            getattr(self, what)()

    def reload(self):
        """The page is loaded again."""
        self.page.reload()

    def back(self):
        """The button of the browser, twice, and forward where that left the page."""
        address = self.page.url
        for _ in range(2):
            self.page.go_back(wait_until="commit")
            self.page.wait_for_load_state()  # a page that is not there yet cannot be left
        if self.page.url != address:
            self.page.goto(address)
        self.go_on()

    def away(self):
        """Another page, and back."""
        self.page.goto("about:blank")
        self.page.go_back()
        self.go_on()

    def close(self):
        """The tab is closed, and the file opened again."""
        context, address = self.page.context, self.page.url
        self.page.close()
        self.on(context.new_page())
        self.open(address)
        self.go_on()

    def offline(self):
        """The connection is lost; a file needs none."""
        self.page.context.set_offline(bool(self.rng.random() < 0.7))
        self.reload()

    def twin(self):
        """A second tab takes over."""
        first = self.page
        self.on(first.context.new_page())
        self.open(first.url)
        self.go_on()
        first.close()

    def resize(self):
        """The device is turned."""
        wide, high = self.page.viewport_size.values()
        self.page.set_viewport_size({"width": high, "height": wide})

    def go_on(self):
        """Where the page asks whether to go on, go on."""
        self.ready()
        if not self.page.locator(".trial, #hand-over, form").count():
            self.page.locator("#main button.main").click()
            self.ready()
