"""Models for ONNX Runtime: `exporting` needs torch, `running` does without."""
