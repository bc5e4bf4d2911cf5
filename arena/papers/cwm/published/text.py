"""The numbers of the CWM paper's tables, as they stand in our text copy of it: one word a column, in the paper's order.

The copy was made by reading page images: points were lost, numbers ran together, counts in small print became letters.
Nothing is mended here. `?` stands where the copy shows nothing in a column's place; two numbers of three digits that
ran together stand apart; the rules under a row's last words are left out. `arena.papers.cwm.published.numbers` decides
what can be read.
"""

from typing import Final

DETAILS: Final[dict[str, str]] = {
    # OOD, observability, payoff, actions, observation's size, information state's size (Table 3)
    "backgammon": "no Full W/L/D 1352 200 ?",
    "connect_four": "no Full W/L/D 7 126 ?",
    "tic_tac_toe": "no Full W/L/D 9 27 ?",
    "mnk": "yes Full W/L/D 36 108 ?",
    "army5x5a": "yes Full W/L/D 5555 250 ?",
    "bargaining": "no Partial General 121 93 309",
    "leduc_poker": "no Partial Zero-sum 3 16 30",
    "gin_rummy": "no Partial Zero-sum 241 644 655",
    "quadranto": "yes Partial W/L/D 5 9 7",
    "hand_of_war": "yes Partial W/L/D 16 27 73",
}

ACCURACY: Final[dict[int, dict[str, str]]] = {
    1: {
        "bargaining": "1.0000 0.9827 1.0000 1.0000 1.0000 1.0000 23.0",
        "leduc_poker": "1.0000 0.9977 0.9942 1.0000 1.0000 1.0000 4.4",
        "gin_rummy": "0.8360 0.7881 0.9044 0.6550 0.5189 0.9678 701.2",
        "quadranto": "1.0000 1.0000 1.0000 1.0000 0.9864 0.9916 6.0",
        "hand_of_war": "1.0000 0.9814 0.9868 1.0000 0.9357 1.0000 144.0",
    },
    2: {
        "bargaining": "1.00000 0.67359 0.76000 88.2",
        "leduc_poker": "1.00000 0.97080 0.96585 9.0",
        "gin_rummy": "0.06215 0.10397 0.53953 467.2",
        "quadranto": "1.00000 0.95183 0.96085 99.0",
        "hand_of_war": "0.98125 0.92846 0.94835 475.4",
    },
    4: {
        "backgammon": "1.00000 0.99932 1.00000 16.8",
        "connect_four": "1.00000 1.00000 1.00000 2.0",
        "tic_tac_toe": "1.00000 1.00000 1.00000 2.0",
        "mnk": "1.00000 1.00000 1.00000 2.4",
        "army5x5a": "1.00000 1.00000 1.00000 5.2",
    },
    5: {
        "backgammon": "1.00000 0.99944 1.00000 13.2",
        "connect_four": "1.00000 1.00000 1.00000 3.2",
        "tic_tac_toe": "1.00000 1.00000 1.00000 2.0",
        "mnk": "1.00000 1.00000 1.00000 2.4",
        "army5x5a": "1.00000 1.00000 1.00000 4.2",
    },
    6: {
        "bargaining": "1.0000 0.9482 0.8712 1.0000 1.0000 1.0000 32.8",
        "leduc_poker": "1.0000 0.9854 0.9942 1.0000 1.0000 1.0000 4.2",
        "gin_rummy": "0.8999 0.8293 0.8909 1.0000 0.9513 0.9738 813.4",
        "quadranto": "1.0000 1.0000 0.9991 1.0000 0.9911 0.9876 7.4",
        "hand_of_war": "1.0000 0.9782 0.9806 1.0000 1.0000 1.0000 28.0",
    },
}

OUTCOMES: Final[dict[int, dict[tuple[str, int], str]]] = {
    # Against the language model: win, its forfeits, loss, its forfeits, draw, draws; then the others: win, loss, draw.
    7: {
        ("backgammon", 0): "1.00 (100/100) 0.00 (0/0) 0.00 (o) 0.08 0.92 0.00 0.98 0.02 0.00",
        ("backgammon", 1): "1.00 ooy 0.00 @) 0000 ? 007 093 000 098 0.02 0.00",
        ("connect_four", 0): "1.00 (2/100) 0.00 (0/0) 0.00 (o) 0.69 0.31 0.00 1.00 0.00 0.00",
        ("connect_four", 1): "100 /e 000 @ 000 ? 028 072 000 100 0.00 0.00",
        ("tic_tac_toe", 0): "0.05 (o/5) 0.00 (0/0) 0.95 (95) 0.00 0.00 1.00 0.97 0.00 0.03",
        ("tic_tac_toe", 1): "0000 ? 0000 ? 100w ? 000 000 100 075 0.00 0.25",
        ("mnk", 0): "0.89 (0/89) 0.10 (0/10) 0.01 ? 0.88 0.12 0.00 1.00 0.00 0.00",
        ("mnk", 1): "093 0ms 007 em 000 ? 037 063 000 100 0.00 0.00",
        ("army5x5a", 0): "1.00 (92/100) 0.00 (0/0) 0.00 (o) 0.18 0.43 0.39 1.00 0.00 0.00",
        ("army5x5a", 1): "1.00 (9771000 0.00 (0/0) 0.00 (0 049 0.17 034 1.00 0.00 0.00",
    },
    9: {
        ("quadranto", 0): "0.91 aesony 0.08 (o/s) 0.0l 1y 0.06 002 092 027 003 0.70",
        ("quadranto", 1): "075 wm 0080py ? 0070 ? 011 008 081 031 006 0.63",
        ("hand_of_war", 0): "03506 ? 056 aisey 0.09 ? 020 0.72 008 033 057 0.10",
        ("hand_of_war", 1): "0.33 /33 0.62 sose2y 0.05 ) 031 061 0.08 033 0.62 0.05",
    },
    11: {
        ("quadranto", 0): "0.58 (659 0.40 (0/40) 002 ? 013 002 085 019 0.04 0.77",
        ("quadranto", 1): "037w ? 0540s0 ? 0090 ? 014 001 085 026 007 0.67",
        ("hand_of_war", 0): "041 ey 0.49 (0/49) 0.10 iy 0.25 0.61 0.14 059 028 0.13",
        ("hand_of_war", 1): "0.44 (/a1 0.40 (0/40) 0.16 ae) 042 041 0.17 0.63 024 0.13",
    },
    13: {
        ("quadranto", 0): "0.69 (0/69) 0.26 (0/26) 0.053 ? 0.08 005 087 023 005 0.72",
        ("quadranto", 1): "071 emy 0220py ? 0070 ? 013 009 078 027 005 068",
        ("hand_of_war", 0): "041 ey 0.42 (0/42) 017 an 031 057 012 061 024 0.15",
        ("hand_of_war", 1): "0.54 (/54 0.25 (0/25) 0.21 @y 047 040 0.13 0.62 026 0.12",
    },
}

LEARNED_OUTCOMES: Final[dict[int, dict[tuple[str, int], str]]] = {
    # As above, with the planner on the model before the language model, and counts for both.
    18: {
        ("backgammon", 0): "0.01 (o/1) 0.99 (0/99) 0.00 (o) 1.00 (100/100) 0.00 (0/0) 0.00 (o) "
        "0.02 0.98 0.00 0.92 0.08 0.00",
        ("backgammon", 1): "0m3em ? 09Tepn ? 0000 ? 100wy ? 000ew ? 000« ? 001 099 000 094 006 000",
        ("connect_four", 0): "0.00 (0/0) 1.00 (0/100) 0.00 (0) 0.92 (0/92) 0.08 (o/8) 0.00 (o) "
        "0.00 1.00 0.00 1.00 0.00 0.00",
        ("connect_four", 1): "000 e 100 o 0.00 .@ 0020 ? 098 omy 0.000 ? 0.00 100 0.00 099 001 0.00",
        ("tic_tac_toe", 0): "0.00 (0/0) 0.00 (0/0) 1.00 (100) 0.00 (0/0) 0.00 (0/0) 1.00 (100) "
        "0.00 0.00 1.00 1.00 0.00 0.00",
        ("tic_tac_toe", 1): "000 ew 100 opw 000w ? 087Tws ? 0120ay ? 001w ? 000 L00 000 09L 00l 0.08",
        ("mnk", 0): "0.45 (0/45) 0.55 (0/55) 0.00 (o) 0.91 (0/91) 0.09 (0/9) 0.00 (o) 0.54 0.46 0.00 1.00 0.00 0.00",
        ("mnk", 1): "00k ? 0960 ? 0000 ? 0380w ? 0620w ? 0000 ? 005 0.95 000 099 001 000",
        ("army5x5a", 0): "0.00 (o/0) 1.00 (0/100) 0.00 (0) 0.94 (90/94) 0.06 (o/6) 0.00 (o) "
        "0.00 1.00 0.00 1.00 0.00 0.00",
        ("army5x5a", 1): "0.08 (/9 0.92 (0/92) 0.00 ) 0.95 (5/95) 0.05 (0/3) 0.00 @ 0.08 092 0.00 1.00 0.00 0.00",
    },
    19: {
        ("quadranto", 0): "0.04 (0/4) 0.68 (0/68) 0.28 28y 0.75 (0/75) 0.25 (0/25) 0.00 (o) "
        "0.00 0.64 0.36 0.55 0.16 0.29",
        ("quadranto", 1): "0080w ? 0340 ? 058y ? 0Tsom) ? 0d50p9 ? 01000 ? 004 058 038 056 011 033",
        ("hand_of_war", 0): "0.63 @6/63) 0.26 (0/26) 0.11 a1y 0.34 (o/349 0.45 (0/45) 0.21 21 "
        "0.30 0.60 0.10 0.63 0.23 0.14",
        ("hand_of_war", 1): "0.69 @ejee) 0.27 (0/21) 0.04 1y 0.54 (o4 0.31 (o/31) 0.15 a5y 052 039 009 069 024 0.07",
    },
    21: {
        ("quadranto", 0): "0.00 (0/0) 0.63 (0/63) 0.37 37 0.76 (0/76) 0.17 (0/17) 0.07 () "
        "0.00 0.60 0.40 0.56 0.10 0.34",
        ("quadranto", 1): "000w ? 08Semy ? 0120y ? 082wm ? 03w ? 001w ? 000 085 012 066 019 015",
        ("hand_of_war", 0): "0.63 (0/63) 0.26 (0/26) 0.11 a1y 0.34 (2739 0.45 (0/45) 0.21 21y "
        "0.19 0.69 0.12 0.67 0.22 0.11",
        ("hand_of_war", 1): "0.54 (o/51) 0.38 (0/38) 0.08 5y 0.50 (o/50) 0.31 (o/31) 0.19 a9y 049 045 006 058 025 0.17",
    },
    23: {
        ("quadranto", 0): "0.04 (0/4) 0.72 (0/72) 0.24 24y 0.87 (o787 0.11 (o/11) 0.02 (2 "
        "0.00 0.58 0.42 0.41 0.19 0.40",
        ("quadranto", 1): "0.05 ©o/5 0.37 oppmy 058 ss) 0.66 o) 011 oy 023 e 0.05 0.46 049 041 017 042",
        ("hand_of_war", 0): "1.00 (oo/100) 0.00 (070 0.00 (o) 0.31 (1/31) 0.57 (0/57) 0.12 a2y "
        "0.38 0.50 0.12 0.63 0.19 0.18",
        ("hand_of_war", 1): "1.00 (00/100) 0.00 (0/0) 0.00 @ 0.54 (o5 0.31 (o/31) 0.15 15y 043 047 0.0 065 016 0.19",
    },
}

PAYOFFS: Final[dict[int, dict[tuple[str, int], str]]] = {
    # Us and them against the language model, the planner on the true game, random.
    8: {
        ("bargaining", 0): "8.90 3.31 8.01 526 821 241",
        ("bargaining", 1): "880 473 751 544 812 281",
        ("leduc_poker", 0): "o003 003 -0.65 065 086 -0.86",
        ("leduc_poker", 1): "#4155 o155 024 <024 109 -1.09",
        ("gin_rummy", 0): "120.54 -120.54 -115.62 115.62 -4.92 4.92",
        ("gin_rummy", 1): "19300 -123.00 -115.62 115.62 -15.99 15.99",
    },
    10: {
        ("bargaining", 0): "8.48 4.32 7.46 4.17 7.70 2.72",
        ("gin_rummy", 0): "66.42 -66.42 -114.39 114.39 -28.29 28.29",
        ("gin_rummy", 1): "15177 49177 19177 12177 492 4.9",
    },
    12: {
        ("bargaining", 0): "7.03 5.91 7.01 5.98 7.37 3.76",
        ("gin_rummy", 0): "29.52 -29.52 -114.39 11439 -119.31 119.31",
        ("gin_rummy", 1): "6396 63.96 -119.31 119.31 -121.77 121.77",
    },
}

LEARNED_PAYOFFS: Final[dict[int, dict[tuple[str, int], str]]] = {
    # Us and them against the planner on the model, the language model, the planner on the true game, random.
    20: {("bargaining", 0): "7.94 429 8.41 3.82 8.16 4.76 7.67 2091"},
    22: {("bargaining", 0): "817 4.61 851 3.83 8.10 4.48 7.87 3.31"},
    24: {("bargaining", 0): "588 6.04 720 491 5.94 6.04 7.23 3.81"},
}

FORFEITS: Final[dict[int, dict[tuple[str, int], str]]] = {
    # As `PAYOFFS`; the copy holds one row of each of these tables.
    14: {("bargaining", 0): "0.00 0.00 0.00 0.00 0.00 0.00"},
    15: {("bargaining", 0): "0.00 0.00 0.00 0.00 0.00 0.00"},
    16: {("bargaining", 0): "0.00 0.00 0.00 0.00 0.00 0.00"},
}
