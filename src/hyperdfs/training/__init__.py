"""Fitting: data, losses, schedules, the loop, and the two stages of Hyper-DFS."""
