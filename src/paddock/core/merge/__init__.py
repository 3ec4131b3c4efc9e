"""The merge queue's pure half: events, state, estimators and the planner. It reads no clock and touches nothing."""
