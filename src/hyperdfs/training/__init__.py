"""Fitting: data, losses, schedules, the loop, and the stages of Hyper-DFS."""
