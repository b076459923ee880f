"""What a policy is shown of a memory, by name: one file each."""
