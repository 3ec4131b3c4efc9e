"""What drift is judged with."""

ALPHA = 0.05
"""How often a batch that behaves as the baseline may be called drift."""

FEWEST_PAIRS = 10
RELIABLE_PAIRS = 20
BATCH_RUNS = 20
BATCHES_BEFORE_PAGING = 2
DAY_SECONDS = 86_400.0

JSD_FLOOR = 0.02
RATE_FLOOR = 0.10
RATIO_FLOOR = 1.15
"""Smaller differences are real in a large batch and of no interest: bits by which paths differ beyond chance, a share
of runs, and the factor by which a run is longer or shorter."""

SHARE_FLOOR = 0.05
"""Of all steps, such as those that fail, or of a path that one activity is."""

WEIGHTS = {"path": 4.0, "outcome": 2.0, "outcome by task": 2.0, "steps": 2.0}
"""How the budget of false alarms is divided: most to what shows a change of model first. Others count 1."""

DIVERGENCE_COUNTS = 2
"""So many times as much as each other view of paths: it sees repetition best, and failures."""

DRAWS = 1_999
"""How often the labels are swapped at random."""

SELF_TEST_SPLITS = 60
SELF_TEST_DRAWS = 399
SELF_TEST_RUNS = 200
"""How often a baseline is divided at random to see how often that is called drift, and how many of its runs."""

MOST_UNITS = 8_000
"""Of more runs a random part is compared: beyond these a difference that chance could explain is below the floors."""

MOST_ACTIVITIES = 64
"""Those that most runs have in their paths; of others nobody asks how often they occur."""

MOST_EDGES = 512
"""The edges that weigh most; the others are counted together."""

FEWEST_KNOWN_PAIRS = 5
"""Of what so few pairs tell, such as their tokens, nothing is computed."""

CUT_OFF_SHARE = 0.10
"""Where more runs end by a time limit, a change of pace changes how long they are."""

TOLD_SHARE = 0.10
"""If so many runs of a side tell their steps, one without made none; else it only is not known."""

ODD_SHARE = 0.05
"""The share of steps that no table knows from which on a path tells little."""
