"""How good a policy is: metrics along a trajectory, leak test, agreement, statistics."""
