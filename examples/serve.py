"""Serve a saved model over HTTP: ``LHTREE_MODEL=model.lht uvicorn serve:app``. See docs/tutorial.md."""

import os

import pandas as pd
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

import lhtree

model = lhtree.load(os.environ["LHTREE_MODEL"])
app = FastAPI(title="lhtree")
Row = dict[str, float | str | None]


@app.post("/predict")
def predict(rows: list[Row]) -> list[dict[str, float]]:
    """Class probabilities of every row."""
    lacking = [name for name in model.feature_names_in_ if not any(name in row for row in rows)]
    if lacking:
        raise ValueError(
            f"columns are missing from the rows: {', '.join(lacking)}. Pass every column (null for a missing value)."
        )
    proba = model.predict_proba(pd.DataFrame(rows)[model.feature_names_in_])
    return [dict(zip(map(str, model.classes_), row, strict=True)) for row in proba.tolist()]


@app.post("/explain")
def explain(row: Row) -> dict[str, str]:
    """Explain the prediction for one row."""
    return {"text": str(model.explain(row))}


@app.exception_handler(ValueError)
def refuse(request: Request, error: Exception) -> JSONResponse:
    """Input that the model cannot read is the caller's error."""
    return JSONResponse({"detail": str(error)}, status_code=422)
