"""Group policy optimization over step tables; sees rollout.types only."""
