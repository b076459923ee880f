"""Metrics, statistics, plots and reports from run folders."""
