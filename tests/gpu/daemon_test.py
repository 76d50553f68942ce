"""What the scripts of this folder read from a daemon and its clients."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import daemon  # noqa: E402

PAGE = """# HELP reprise_batches_total Batches
# TYPE reprise_batches_total counter
reprise_batches_total{device="0",model="mlp",size="4"} 3
reprise_batches_total{device="0",model="mlp",size="8"} 4
reprise_batches_total{device="0",model="a \\"b\\"",size="8"} 16
reprise_live_activation_bytes{device="0"} 5.5e+06
process_threads 12
"""


def report(rate, p50, p99, ok=10, unavailable=0):
    return {"statusCodeDistribution": {"OK": ok, "UNAVAILABLE": unavailable},
            "latencyDistribution": [{"percentage": 50.0, "latency": p50}, {"percentage": 99.0, "latency": p99}],
            "reprise": {"okPerSecond": rate, "rowsPerSecond": 2 * rate, "late": 1, "unsent": 2,
                        "server": {"rowsPerBatch": 7.5}}}


class MetricsTest(unittest.TestCase):
    def test_series_are_found_by_their_labels(self):
        metrics = daemon.Metrics(PAGE)
        self.assertEqual(metrics.sum("reprise_batches_total"), 23)
        self.assertEqual(metrics.sum("reprise_batches_total", model="mlp"), 7)
        self.assertEqual(metrics.all("reprise_batches_total", model="mlp", size="8"),
                         [({"device": "0", "model": "mlp", "size": "8"}, 4)])
        self.assertEqual(metrics.sum("reprise_live_activation_bytes"), 5.5e6)
        self.assertEqual(metrics.sum("process_threads"), 12)
        self.assertEqual(metrics.sum("reprise_batches"), 0)


class BenchTest(unittest.TestCase):
    def test_a_report_is_in_microseconds_and_counts_what_failed(self):
        one = daemon.Bench(report(100, p50=2000, p99=5000, unavailable=3))
        self.assertEqual((one.rate, one.rows, one.failed, one.late, one.rows_a_batch), (100, 200, 3, 3, 7.5))
        self.assertEqual((one.latency(50.0), one.latency(99.0), one.latency(99.9)), (2, 5, 0))

    def test_several_clients_add_up_and_the_worst_counts(self):
        both = daemon.Benches([daemon.Bench(report(100, 2000, 5000)),
                               daemon.Bench(report(50, 4000, 9000, unavailable=1))])
        self.assertEqual((both.rate, both.rows, both.failed, both.late), (150, 300, 1, 6))
        self.assertEqual((both.latency(50.0), both.latency(99.0)), (3, 9))


if __name__ == "__main__":
    unittest.main()
