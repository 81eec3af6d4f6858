"""Gold labels beside scores: metrics, reports, faithfulness, significance."""
