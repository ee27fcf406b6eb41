"""What chance decides: lots between two thresholds, and a third action for some of the cases."""
