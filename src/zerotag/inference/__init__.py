"""Running networks: one predictor protocol with torch and ONNX behind it, and the export between them."""
