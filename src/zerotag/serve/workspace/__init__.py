"""What the page works with beside models: uploads, trainings and corrections, in one folder that survives restarts."""
