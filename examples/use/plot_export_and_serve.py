"""Export and serve
================

A fitted model is saved in one safe file. It predicts without scikit-learn, in a database, from C, or behind
HTTP, with the same probabilities to the bit.
"""

# %%
import json
import sqlite3
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import lhtree

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = lhtree.LHBoostClassifier(max_iter=50, random_state=0).fit(X_train, y_train)
folder = Path(tempfile.mkdtemp())

# %%
# One file
# --------
# The file holds numbers and text, no pickle: loading it executes nothing. A ``Scorer`` needs NumPy only.
lhtree.save(model, folder / "tumours.lht", metadata={"approved by": "Ada"})
scorer = lhtree.load_scorer(folder / "tumours.lht")
proba = model.predict_proba(X_test)
print(scorer, "bit-identical:", bool((scorer.predict_proba(X_test.to_numpy()) == proba).all()))

# %%
# In a database
# -------------
# ``export_sql`` returns one SELECT for SQLite, DuckDB or PostgreSQL. ``export_c`` and ``export_onnx`` write a
# C file and an ONNX file.
connection = sqlite3.connect(":memory:")
X_test.reset_index(drop=True).to_sql("patients", connection, index_label="id")
statement = lhtree.export_sql(model, table="patients", keys=["id"])
in_sql = np.array(
    connection.execute(f"SELECT id, probability_malignant FROM ({statement}) ORDER BY id").fetchall()
)
connection.close()
lhtree.export_c(model, folder / "tumours.c", name="tumours")
print("bit-identical:", bool((in_sql[:, 1] == proba[:, 1]).all()))

figure, ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
colours = np.where(y_test == "malignant", "#E69F00", "#0072B2")
ax.scatter(proba[:, 1], in_sql[:, 1], c=colours, s=14)
ax.set(xlabel="probability in Python", ylabel="probability in SQLite", title="The same model, twice")
plt.show()


# %%
# Behind HTTP
# -----------
# A service in a few lines of the standard library. ``lhtree serve`` is one that checks its input, explains, and has
# a page.
class Service(BaseHTTPRequestHandler):
    """Answers rows with the probability of each class."""

    def do_POST(self):
        """Predict the rows in the body."""
        rows = np.array(json.loads(self.rfile.read(int(self.headers["Content-Length"]))), dtype=float)
        answer = json.dumps(
            {"classes": scorer.classes_.tolist(), "proba": scorer.predict_proba(rows).tolist()}
        )
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *args):
        """Keep quiet."""


server = HTTPServer(("127.0.0.1", 0), Service)
thread = threading.Thread(target=server.serve_forever)
thread.start()
body = json.dumps(X_test[:2].to_numpy().tolist()).encode()
with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}", body) as answer:
    print(json.load(answer))
server.shutdown()
thread.join()
server.server_close()
