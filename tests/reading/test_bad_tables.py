"""Tables with one thing wrong each, and the sentence that each is refused with, or warned of."""

import pytest
from helpers.typed_tables import made, table

from thali._reading.recognise import recognise
from thali.errors import DataError, DataWarning

REFUSED = [
    # file, content, sentence
    (
        "pairs.csv",
        "a,b,proportion,n\nx,y,.6,10\nx,z,.7,10\n",
        "The columns 'a', 'b', 'proportion', 'n' have no shape that is known. Nearest is a list of comparisons, but "
        "for counts in place of 'proportion': how often 'a' was chosen and how often 'b' was, in two columns such as "
        "'wins' and 'losses'; it has ",
    ),
    (
        "pairs.csv",
        "left,right,wins_right,n\nx,y,6,10\nx,z,7,10\n",
        "The columns 'left', 'right', 'wins_right', 'n' have no shape that is known. Nearest is a list of comparisons, "
        "but for a column beside 'wins_right' that counts how often 'left' was chosen; it has ",
    ),
    (
        "pairs.csv",
        "a,b,a_wins,b_wins\nx,y,.6,.4\nx,z,.7,.3\ny,z,.5,.5\n",
        "The count in row 2, column 'a_wins' is 0.6, which is not whole; counts must be whole numbers, 0 or more. If "
        "fractional counts are meant, say so: weights=True, or a column called 'weight' in a file. The two numbers of "
        "every pair sum to 1; if they are proportions, give the counts instead, because the number of comparisons "
        "decides how sure the answer is.",
    ),
    (
        "games.csv",
        "home,away,result\nx,y,0.75\ny,x,0.25\n",
        "Column 'result' holds '0.75' in row 2, which is none of its two options ('x', 'y'), H, D, A, 1, X, 2 or 1, 0, "
        "-1 or a word for a tie; mend it, or say what it means by coding (missing: it is no answer).",
    ),
    (
        "trials.csv",
        "subject,left,right,rt\n1,tea,milk,200\n1,milk,tea,300\n",
        "The columns 'subject', 'left', 'right', 'rt' have no shape that is known. Nearest is a table of trials, "
        "but for a column that says which was chosen of 'left' and 'right', which you may name by chosen; it has ",
    ),
    (
        "trials.csv",
        "subject,left,choice\n1,tea,tea\n1,milk,tea\n",
        "The columns 'subject', 'left', 'choice' have no shape that is known. Nearest is a table of trials, but "
        "for a column 'right' beside 'left', which you may name by second; it has ",
    ),
    (
        "trials.csv",
        "subject,Reiz X,Reiz Y,choice\n1,tea,milk,tea\n1,milk,tea,tea\n",
        "The columns 'subject', 'Reiz X', 'Reiz Y', 'choice' have no shape that is known. Nearest is a table of "
        "trials, but for names that say that 'Reiz X' and 'Reiz Y' hold the two options, which you may name by "
        "first; it has ",
    ),
    (
        "trials.csv",
        "left,right,choice\ntea,milk,leftt\nmilk,tea,left\n",
        "Column 'choice' holds 'leftt' in row 2, which is none of its two options ('tea', 'milk'), a side (left, "
        "right, first, second, 1, 2) or a word for a tie; mend it, or say what it means by "
        "coding (missing: it is no answer). "
        "Did you mean 'left'?",
    ),
    (
        "trials.csv",
        "left,right,choice\ntea,milk,Tea\nmilk,tea,tea\n",
        "Column 'choice' holds 'Tea' in row 2, which is none of its two options ('tea', 'milk'), a side (left, "
        "right, first, second, 1, 2) or a word for a tie; mend it, or say what it means by "
        "coding (missing: it is no answer). "
        "Did you mean 'tea'?",
    ),
    (
        "trials.csv",
        "left,right,choice,choice\ntea,milk,tea,tea\n",
        "Columns 3 and 4 are both called 'choice'; the first line must hold names that differ.",
    ),
    (
        "trials.csv",
        "left,right,choice\ntea,milk,60%\nmilk,tea,40%\n",
        "Column 'choice' holds '60%' in row 2, which is none of its two options ('tea', 'milk'), a side (left, "
        "right, first, second, 1, 2) or a word for a tie; mend it, or say what it means by "
        "coding (missing: it is no answer).",
    ),
    (
        "trials.csv",
        "left,right,choice,n\ntea,milk,left,1,700\n",
        "Line 2 holds 5 cells, but the header names 4 columns; every row needs the same number (a label that "
        "contains the separator must stand in quotes).",
    ),
    (
        "parties.csv",
        '"","preference","age"\n"1",{non < Lnk, non > Grn, Lnk > Grn},31\n"2",{non > Lnk, non > Grn, NA},25\n',
        "Column 'preference' holds the text that R prints of a paircomp object, shortened; in R write.csv("
        "as.matrix(x$preference)) writes the comparisons, a column for each pair.",
    ),
    (
        "parties.csv",
        '"","preference","age"\n"1","{non < Lnk, non > Grn, ...}",31\n"2","{non > Lnk, non > Grn, ...}",25\n',
        "Column 'preference' holds the text that R prints of a paircomp object, shortened; in R write.csv("
        "as.matrix(x$preference)) writes the comparisons, a column for each pair.",
    ),
    (
        "trials.csv",
        'left,right,choice,n\ntea,milk,left,"1,700"\n',
        "The count in row 2, column 'n' is '1,700', which is not a number; write it without separators of "
        "thousands, 1700.",
    ),
    (
        "trials.csv",
        "left,right,choice,n\ntea,milk,left,60%\n",
        "The count in row 2, column 'n' is '60%', which is not a number; give counts, not percentages.",
    ),
    (
        "trials.csv",
        "left,right,choice,n\ntea,milk,left,inf\n",
        "The count in row 2, column 'n' is infinite; counts must be whole numbers, 0 or more.",
    ),
    (
        "square.csv",
        ",tea,milk,rum\ntea,0,inf,20\nmilk,12,0,8\nrum,4,30,0\n",
        "The count in row 'tea', column 'milk' is infinite; counts must be whole numbers, 0 or more.",
    ),
    (
        "trials.csv",
        "left,right,choice,n\ntea,milk,left,-3\n",
        "The count in row 2, column 'n' is -3, which is negative; counts must be whole numbers, 0 or more.",
    ),
    (
        "trials.csv",
        "winner,loser\ntea,milk\ndraw,milk\ndraw,tea\n",
        "'draw' says that neither option was chosen; name both options and the outcome in columns such as 'left', "
        "'right' and 'chosen', or count ties in a column 'ties' (if it is an option, give it another name). It is "
        "chosen 2 times and rejected 0 times.",
    ),
    (
        "trials.csv",
        "winner,loser\ntie,tie\ntea,milk\n",
        "'tie' says that neither option was chosen; name both options and the outcome in columns such as 'left', "
        "'right' and 'chosen', or count ties in a column 'ties' (if it is an option, give it another name). It "
        "stands in both columns in row 2.",
    ),
    (
        "trials.csv",
        "winner,loser,n\ntea,milk,0.5\n",
        "The count in row 2, column 'n' is 0.5, which is not whole; counts must be whole numbers, 0 or more. If "
        "fractional counts are meant, say so: weights=True, or a column called 'weight' in a file.",
    ),
    (
        "arena.csv",
        "model_a,model_b,winner\nx,y,model_c\n",
        "Column 'winner' holds 'model_c' in row 2, which is none of its two options ('x', 'y'), a side (left, "
        "right, first, second, 1, 2) or a word for a tie; mend it, or say what it means by "
        "coding (missing: it is no answer). "
        "Did you mean 'model_b'?",
    ),
    (
        "arena.csv",
        "model_a,model_b,winner\nx,y,\n",
        "Column 'winner' holds no answer; name another column by chosen.",
    ),
    (
        "arena.csv",
        "model_a,winner\nx,model_a\ny,model_b\n",
        "The columns 'model_a', 'winner' have no shape that is known. Nearest is a table of trials, but for a "
        "column 'model_b' beside 'model_a', which you may name by second; it has ",
    ),
    (
        "league.csv",
        "home,away,date\nHull,Stoke,1.5.\nStoke,Hull,2.5.\n",
        "The columns 'home', 'away', 'date' have no shape that is known. Nearest is a table of results, but for a "
        "column that says which won of 'home' and 'away', which you may name by result; it has ",
    ),
    (
        "league.csv",
        "home,result\nHull,H\nStoke,A\n",
        "The columns 'home', 'result' have no shape that is known. Nearest is a table of results, but for a column "
        "'away' beside 'home', which you may name by away; it has ",
    ),
    (
        "league.csv",
        "home,away,home_goals\nHull,Stoke,3\nStoke,Hull,2\n",
        "The columns 'home', 'away', 'home_goals' have no shape that is known. Nearest is a table of results, but "
        "for a column that says which won of 'home' and 'away', which you may name by result; it has ",
    ),
    (
        "square.csv",
        ",tea,milk,water,Sum\ntea,0,3,5,8\nmilk,1,0,2,3\nwater,2,4,0,6\nSum,3,7,7,17\n",
        "Row and column 'Sum' hold the sums of the other rows and columns, which are no option; remove both.",
    ),
    (
        "square.csv",
        ",tea,milk,water,Sum\ntea,0,3,5,8\nmilk,1,0,2,3\nwater,2,4,0,6\n",
        "'Sum': these are the sums of the options, and none of them; remove them.",
    ),
    (
        "square.csv",
        ",tea,milk,water\ntea,0,60%,70%\nmilk,40%,0,20%\nwater,30%,80%,0\n",
        "The count in row 'tea', column 'milk' is '60%', which is not a number; give counts, not percentages.",
    ),
    (
        "square.csv",
        ",tea,milk,water\ntea,,.6,.7\nmilk,.4,,.2\nwater,.3,.8,\n",
        "The count in row 'tea', column 'milk' is 0.6, which is not whole; counts must be whole numbers, 0 or "
        "more. If fractional counts are meant, say so: weights=True, or a column called 'weight' in a file. The "
        "two numbers of every pair sum to 1; if they are proportions, give the counts instead, because the number "
        "of comparisons decides how sure the answer is.",
    ),
    (
        "square.csv",
        ",tea,milk\ntea,0,=B2\nmilk,1,0\n",
        "The count in row 'tea', column 'milk' is '=B2', which is not a number.",
    ),
    (
        "wide.csv",
        "subject,tea>milk,tea>water\n1,5,4\n2,3,2\n3,1,1\n",
        "The columns 'subject', 'tea>milk', 'tea>water' have no shape that is known. Nearest is a table with a "
        "column a pair, but for answers in 'tea>milk', 'tea>water' such as 1 and 2; 1, -1 and 0; or the label "
        "chosen; it has ",
    ),
    (
        "wide.csv",
        "subject,V1,V2,V3,V4\n1,1,2,1,2\n2,1,1,1,2\n3,2,1,1,1\n",
        "The columns 'subject', 'V1', 'V2', 'V3', 'V4' have no shape that is known. Nearest is a table with a "
        "column a pair, but for a number of columns 'V1' to 'V4' that is one of pairs (3, 6, 10, 15, ...); it has ",
    ),
    (
        "wide.csv",
        "tea:milk,tea:water,milk:water\n1,0,1\n0,0,1\n1,1,1\n0,1,0\n",
        "The columns of pairs hold 0 and 1 alone, which does not say which option was chosen; say what they mean "
        "by coding.",
    ),
    (
        "wide.csv",
        "tea:milk,tea:milk2\ntea,x\nmilk,y\nmilk,y\n",
        "Column 'tea:milk2' holds 'x' in row 2, which is neither 'tea' nor 'milk2', a code such as 1 and 2 nor a "
        "word for a tie; mend it, or say what it means by coding (missing: it is no answer).",
    ),
    (
        "ranks.csv",
        "subject,item,place in list\n1,tea,1\n1,milk,2\n",
        "The columns 'subject', 'item', 'place in list' have no shape that is known. Nearest is a long table of "
        "choices, but for a column with 1 for the chosen alternative and 0 for the others, which you may name by "
        "chosen; it has ",
    ),
    (
        "ranks.csv",
        "subject,item\n1,tea\n1,milk\n",
        "The columns 'subject', 'item' have no shape that is known. Nearest is a long table of choices, but for a "
        "column with 1 for the chosen alternative and 0 for the others, which you may name by chosen; it has ",
    ),
    (
        "ranks.csv",
        "subject,rank\n1,1\n1,2\n",
        "The columns 'subject', 'rank' have no shape that is known. Nearest is a table of rankings, but for a "
        "column of options beside 'rank', which you may name by option; it has ",
    ),
    (
        "ranks.csv",
        "rank1,rank2,rank3\ntea,milk,milk\n",
        "'milk' is named twice in row 2; an option has one rank.",
    ),
    (
        "ranks.csv",
        "tea,milk,water\n1,2,3\n1,1,2\n3,1,2\n2,1,3\n",
        "'tea' and 'milk' both have rank 1 in row 3; rankings with ties are not read, so break the tie or remove "
        "the row.",
    ),
    (
        "ranks.csv",
        "tea,milk,water\n1,2,3\n0.5,1,2\n3,1,2\n2,1,3\n",
        "'tea' has rank 0.5 in row 3; ranks are whole numbers, 1 for the best.",
    ),
    (
        "ranks.csv",
        "tea,milk,water\n0,1,2\n1,0,2\n2,1,0\n0,2,1\n",
        "Every ranking has one rank 0; ranks begin with 1 for the best, so add 1 if 0 is the best here, or leave the "
        "cells empty if 0 stands for an option that was not ranked.",
    ),
    (
        "ranks.csv",
        "subject,item,rank\n1,tea,0\n1,milk,1\n2,tea,1\n2,milk,0\n",
        "Every ranking has one rank 0; ranks begin with 1 for the best, so add 1 if 0 is the best here, or leave the "
        "cells empty if 0 stands for an option that was not ranked.",
    ),
    (
        "trials.csv",
        "winner,loser\ntea,milk\n-,milk\nmilk,tea\n",
        "'-' says that neither option was chosen; name both options and the outcome in columns such as 'left', "
        "'right' and 'chosen', or count ties in a column 'ties' (if it is an option, give it another name). It is "
        "chosen 1 time and rejected 0 times.",
    ),
    (
        "list.csv",
        "a,b,wins_a,wins_b\ntea,milk,6,4\ntea,water,7,3\nTotal,,13,7\n",
        "A label is missing in row 4, column 'b'; fill it in or remove the row.",
    ),
    (
        "bw.csv",
        "best,worst\ntea,milk\nmilk,tea\n",
        "The columns 'best', 'worst' have no shape that is known. Nearest is a table of best-worst choices, but "
        "for columns 'option1', 'option2', 'option3' of what was offered beside 'best' and 'worst'; it has ",
    ),
    (
        "bw.csv",
        "a1,a2,a3,best,wrst\ntea,milk,water,tea,milk\nmilk,tea,water,milk,water\n",
        "The columns 'a1', 'a2', 'a3', 'best', 'wrst' have no shape that is known. Nearest is a table of best-worst "
        "choices, but for a column of the worst beside 'best', which you may name by worst; it has ",
    ),
    (
        "bw.csv",
        "a1,a2,a3,best,worst\ntea,milk,water,tea,tea\n",
        "'tea' is both the best and the worst in row 2; mend one of the two.",
    ),
    (
        "choices.csv",
        "task,item,price\n1,tea,2\n1,milk,3\n",
        "The columns 'task', 'item', 'price' have no shape that is known. Nearest is a long table of choices, but "
        "for a column with 1 for the chosen alternative and 0 for the others, which you may name by chosen; it has ",
    ),
    (
        "choices.csv",
        "task,item,chosen\n1,tea,0\n1,milk,0\n",
        "No alternative is chosen in occasion '1'; exactly one must be. Mend the occasion or remove it.",
    ),
    (
        "choices.csv",
        "task,item,chosen\n1,tea,1\n1,milk,1\n",
        "2 alternatives are chosen in occasion '1'; exactly one must be. Mend the occasion or remove it.",
    ),
    (
        "choices.csv",
        "task,item,chosen\n1,tea,maybe\n1,milk,0\n",
        "Column 'chosen' must hold 1 (yes) or 0 (no); row 2 holds 'maybe'.",
    ),
    (
        "choices.csv",
        "id,price_1,price_2\n1,3,4\n2,4,3\n3,4,4\n",
        "The columns 'id', 'price_1', 'price_2' have no shape that is known. Nearest is a choice experiment with a "
        "row a task, but for a column of the alternative chosen beside 'price_1', 'price_2', which you may name by "
        "chosen; it has ",
    ),
    (
        "choices.csv",
        "id,price_1,price_2,choice\n1,3,4,5\n2,4,3,1\n3,4,4,1\n",
        "Column 'choice' is '5' in row 2, which is none of the alternatives '1', '2'; if it means that none was "
        "chosen, say so by none.",
    ),
    (
        "rankings.csv",
        "rank1,rank2,rank3\ntea,,milk\n",
        "No option stands at 'rank2' in row 2, where later ones do; fill it in or move them.",
    ),
    (
        "rankings.csv",
        "subject,item,rank\n1,tea,1\n1,tea,2\n",
        "'tea' is listed twice in the ranking of subject '1', again in row 3; call the column that tells rankings "
        "of the same person apart 'task'.",
    ),
    (
        "rankings.csv",
        "subject,item,rank\n1,tea,1\n1,milk,x\n",
        "The rank in row 3, column 'rank' is 'x', which is not a number.",
    ),
    (
        "rankings.csv",
        "rank1,rank2\ntea,\nmilk,\n",
        "There is not a single choice in 2 rankings; none names two options.",
    ),
    (
        "x.toi",
        "# ALTERNATIVE NAME 1: tea\n2: 1,{2,3}\n",
        "Line 2 ranks several alternatives alike, '1,{2,3}'; rankings with ties are not read.",
    ),
    (
        "x.toi",
        "# ALTERNATIVE NAME 1: tea\n2: 1,7\n",
        "Line 2 names alternative '7', which the head of the file does not.",
    ),
    (
        "x.toi",
        "# ALTERNATIVE NAME 1: tea\n1,2\n",
        "Line 2 is '1,2', but an order of a PrefLib file is written as '3: 2,1,4'.",
    ),
    (
        "x.toi",
        "# ALTERNATIVE NAME 1: tea\n",
        "The file holds no order below its head.",
    ),
    (
        "x.soi",
        "hello\n",
        "This is no PrefLib file: it has neither '# ALTERNATIVE NAME 1: ...' nor a number of names.",
    ),
    (
        "bw.csv",
        "a1,a2,a3,a4,best,worst\nx,y,z,y,x,z\n",
        "'y' is listed twice in row 2; remove one of the rows.",
    ),
    (
        "bw.csv",
        "a1,a2,best,worst\nx,y,,y\n",
        "Nothing stands in row 2, column 'best', which is none of the options there, 'x', 'y'.",
    ),
    (
        "bw.csv",
        "a1,a2,a3,best,worst\nx,y,z,x,q\n",
        "'q' is in row 2, column 'worst', which is none of the options there, 'x', 'y', 'z'.",
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,tea,0,0\n1,1,milk,0,0\n1,1,water,0,1\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,1\n",
        "No option is marked in column 'best' of the set that begins in row 2; mark one as the best.",
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,tea,1,0\n1,1,milk,0,0\n1,1,water,0,1\n2,1,tea,,1\n2,1,milk,1,\n2,1,water,,1\n",
        "2 options are marked in column 'worst' of the set that begins in row 5; mark one as the worst.",
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,tea,1,0\n1,1,tea,0,0\n1,1,water,0,1\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,1\n",
        "An option is listed twice in the set that begins in row 2; list each once.",
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,water,0,1\n1,1,milk,0,0\n1,1,water,0,1\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,1\n",
        "An option is listed twice in the set that begins in row 2; list each once.",
    ),
    (
        "marks.csv",
        "subject,task,item,best,worst\n1,1,tea,1,1\n1,1,milk,0,0\n1,1,water,0,0\n2,1,tea,,\n2,1,milk,1,\n2,1,water,,1\n",
        "'tea' is both the best and the worst in row 2; mend one of the two.",
    ),
    (
        "trials.csv",
        "left,right,choice\ntea,milk,0\ntea,milk,1\n",
        "Column 'choice' holds 0 and 1, which do not say which side was chosen; say what they mean by coding, or "
        "write 'left' and 'right'.",
    ),
    (
        "trials.csv",
        "left,right,choice\n1,2,1\n2,1,1\n",
        "Column 'choice' may hold labels of options or sides (1, 2, left, right), and the two differ; give the "
        "options other names, or say what its values mean by coding.",
    ),
    (
        "trials.csv",
        "left,right,choice\ntea,tea,left\n",
        "'tea' is compared with itself in row 2, column 'left'; remove the row or mend a label.",
    ),
    (
        "trials.csv",
        "left,right,choice\ntea,,left\n",
        "A label is missing in row 2, column 'right'; fill it in or remove the row.",
    ),
    (
        "league.csv",
        "home,away,result\nHull,Stoke,W\nHull,Stoke,Q\n",
        "Column 'result' holds 'Q' in row 3, which is none of its two options ('Hull', 'Stoke'), H, D, A, 1, X, 2 "
        "or 1, 0, -1 or a word for a tie; mend it, or say what it means by coding (missing: it is no answer).",
    ),
    (
        "league.csv",
        "home,away,home_goals,away_goals\nHull,Stoke,two,1\n",
        "The score in row 2, column 'home_goals' is 'two', which is not a number.",
    ),
    (
        "wide.csv",
        "tea:milk,tea:water\ntea,tea\n>,tea\ntea,tea\n",
        "Column 'tea:milk' holds '>' in row 3, which is neither 'tea' nor 'milk', a code such as 1 and 2 nor a "
        "word for a tie; mend it, or say what it means by coding (missing: it is no answer).",
    ),
    (
        "odd.csv",
        "object1,object2,object3,odd\ntea,coffee,brick,brick\nbrick,wall,tea,milk\n",
        "In row 3 'milk', column 'odd', is not of the objects asked about, 'brick', 'wall', 'tea'; correct the "
        "row or remove it.",
    ),
    (
        "odd.csv",
        "object1,object2,object3,odd\ntea,coffee,brick,brick\nbrick,wall,wall,wall\n",
        "'wall' is named twice in row 3; a question compares different objects, so correct the row or remove it.",
    ),
    (
        "odd.csv",
        "object1,object2,object3,odd\ntea,coffee,brick,brick\nbrick,,tea,tea\n",
        "An object is missing in row 3, column 'object2'; fill it in or remove the row.",
    ),
]

SHARES = (
    " of every pair sum to 100; if they are percentages, give the counts instead, because the number of comparisons "
    "decides how sure the answer is."
)
WARNED = [
    ("a,b,wins_a,wins_b\ntea,milk,60,40\ntea,water,70,30\nmilk,water,55,45\n", f"The two numbers{SHARES}"),
    (
        "a,b,win,loss,tie\ntea,milk,50,40,10\ntea,water,60,30,10\nmilk,water,55,35,10\n",
        f"The numbers{SHARES}",
    ),
    (
        "winner,loser,n\ntea,milk,6\nmilk,tea,4\nTotal,tea,10\n",
        "'Total': read as an option; if the sum or the mean of others is meant, remove its rows.",
    ),
    (
        ",tea,milk,water\ntea,0,60,70\nmilk,40,0,20\nwater,30,80,0\n",
        "The two numbers of every pair sum to 100; if they are percentages, give the counts instead, because the "
        "number of comparisons decides how sure the answer is.",
    ),
    (
        ",Coffee,coffee\nCoffee,0,3\ncoffee,1,0\n",
        "The labels 'Coffee', 'coffee' differ only in capitals or blanks; they are taken for different ones, so "
        "write alike what is one.",
    ),
]


@pytest.mark.parametrize(("name", "text", "sentence"), REFUSED)
def test_what_is_refused(name, text, sentence):
    with pytest.raises(ValueError) as caught:
        recognise(table(text, name)).build()
    said = str(caught.value)
    assert said.startswith(f"{name}: {sentence}") if sentence.endswith("it has ") else said == f"{name}: {sentence}"


@pytest.mark.parametrize(("text", "sentence"), WARNED)
def test_what_is_read_with_a_warning(text, sentence):
    with pytest.warns(DataWarning) as said:
        made(text)
    assert [str(each.message) for each in said] == [sentence]


DIGITS = "1" * 5000  # more than Python makes a number of


@pytest.mark.parametrize(
    "text",
    [f"V1,V2,V{DIGITS}\n1,2,1\n", f"rank1,rank{DIGITS}\nA,B\n", f"item1,item{DIGITS},best,worst\nA,B,C,A\n"],
)
def test_a_number_of_thousands_of_digits_ends_in_a_sentence(text):
    with pytest.raises(DataError):
        recognise(table(text))
