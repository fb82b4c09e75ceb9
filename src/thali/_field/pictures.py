"""Pictures of options, as part of a page: scaled down, without what cameras write beside them, and
without scripts."""

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from thali.errors import DataError

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
LONGEST_SIDE = 640  # pixels of a picture on the page
MAX_PIXELS, MAX_BYTES = 100_000_000, 50_000_000  # of a file
_KINDS = ("PNG", "JPEG", "GIF", "WEBP")
_QUALITY = 85  # of JPEG
_MAX_SVG = 1_000_000  # bytes
_ELEMENTS = ("script", "foreignobject", "iframe", "object", "embed", "handler", "set", "animate")
_LINKS = ("href", "src")
_INSIDE = re.compile(r"#|data:image/(?:png|jpeg|gif|webp);", re.IGNORECASE)
_ELSEWHERE = re.compile(r"""url\((?!['"]?#)|@import|expression\(|javascript:""", re.IGNORECASE)


def picture(path: Path) -> str:
    """The picture in a file as an address of kind data:.

    Raises
    ------
    DataError
        If the file is missing, no picture, too large, or an SVG that holds more than a drawing.
    """
    if not path.is_file():
        raise DataError(
            f"There is no picture {str(path)!r}; give paths relative to the folder that contains"
            " the list of pictures."
        )
    if (size := path.stat().st_size) > MAX_BYTES:
        raise DataError(
            f"The picture {str(path)!r} has {size:,} bytes; reduce it to at most {MAX_BYTES:,}"
            " bytes."
        )
    content = path.read_bytes()
    if path.suffix.lower() == ".svg":
        _check_drawing(path, content)
        return _address("svg+xml", content)
    return _address(*_scaled(path, content))


def _address(kind: str, content: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _scaled(path: Path, content: bytes) -> tuple[str, bytes]:
    """The picture upright, no larger than a page shows it, and nothing but the picture."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        image: Any = Image.open(io.BytesIO(content), formats=_KINDS)
        if image.width * image.height > MAX_PIXELS:
            raise DataError(
                f"The picture {str(path)!r} has {image.width:,} by {image.height:,} pixels; reduce"
                f" it to at most {MAX_PIXELS:,} pixels."
            )
        image = ImageOps.exif_transpose(image)
    except UnidentifiedImageError:
        raise DataError(
            f"{str(path)!r} is not a picture; save it as PNG, JPEG, GIF, WebP or SVG."
        ) from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"The picture {str(path)!r} is damaged ({error}); save it again.") from None
    see_through = "A" in image.getbands() or "transparency" in image.info
    image = image.convert("RGBA" if see_through else "RGB")
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    kind, settings = (
        ("png", {"optimize": True})
        if see_through
        else ("jpeg", {"quality": _QUALITY, "optimize": True})
    )
    held = io.BytesIO()
    image.save(held, kind, **settings)
    return kind, held.getvalue()


def _check_drawing(path: Path, content: bytes) -> None:
    """Refuse an SVG that runs, loads or holds anything but a drawing."""

    def refuse(what: str) -> DataError:
        return DataError(
            f"The picture {str(path)!r} contains {what}; save it as a plain drawing, or as PNG."
        )

    if len(content) > _MAX_SVG:
        raise DataError(f"The picture {str(path)!r} has {len(content):,} bytes; save it as PNG.")
    if b"<!ENTITY" in content.upper():
        raise refuse("entity definitions")
    if b"<?XML-STYLESHEET" in content.upper():
        raise refuse("an external style sheet")
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError):
        raise DataError(f"{str(path)!r} is not a readable SVG; save it again.") from None
    if _name(root.tag) != "svg":
        raise DataError(f"{str(path)!r} is not an SVG; its first element is {_name(root.tag)!r}.")
    for element in root.iter():
        if not isinstance(element.tag, str):  # a comment or an instruction
            continue
        if _name(element.tag) in _ELEMENTS:
            raise refuse(f"the element {_name(element.tag)!r}")
        texts = (
            [*element.attrib.values(), element.text or ""]
            if _name(element.tag) == "style"
            else element.attrib.values()
        )
        if any(_ELSEWHERE.search("".join(text.split())) for text in texts):
            raise refuse("a style that loads other files")
        for attribute, value in element.attrib.items():
            if _name(attribute).startswith("on"):
                raise refuse(f"the script {_name(attribute)!r}")
            if _name(attribute) in _LINKS and not _INSIDE.match(value.strip()):
                raise refuse("an external link")


def _name(tag: str) -> str:
    """The name without its namespace."""
    return tag.rpartition("}")[2].lower()
