#include "runtime/model/model_statistics.h"

#include "gtest/gtest.h"

namespace reprise {
namespace {

TEST(ModelStatisticsTest, CountsRowsRequestsAndBatches) {
  ModelStatistics statistics;
  const absl::Time finished = absl::FromUnixSeconds(1000);
  statistics.AddSuccess({.finished = finished,
                         .rows = 3,
                         .total = absl::Milliseconds(10),
                         .queue = absl::Milliseconds(4),
                         .compute_input = absl::Milliseconds(1),
                         .compute_infer = absl::Milliseconds(3),
                         .compute_output = absl::Milliseconds(2)});
  ModelStatistics::Success second;
  second.finished = finished + absl::Seconds(1);
  second.total = absl::Milliseconds(5);
  statistics.AddSuccess(second);
  statistics.AddFailure(absl::Milliseconds(7));
  statistics.AddBatch(4, absl::Milliseconds(1), absl::Milliseconds(3),
                      absl::Milliseconds(2));
  const ModelStatistics::Snapshot got = statistics.snapshot();
  EXPECT_EQ(got.last_inference, finished + absl::Seconds(1));
  EXPECT_EQ(got.inference_count, 4U);
  EXPECT_EQ(got.execution_count, 1U);
  EXPECT_EQ(got.success.count, 2U);
  EXPECT_EQ(got.success.total, absl::Milliseconds(15));
  EXPECT_EQ(got.queue.total, absl::Milliseconds(4));
  EXPECT_EQ(got.compute_input.total, absl::Milliseconds(1));
  EXPECT_EQ(got.compute_infer.total, absl::Milliseconds(3));
  EXPECT_EQ(got.compute_output.total, absl::Milliseconds(2));
  EXPECT_EQ(got.fail.count, 1U);
  EXPECT_EQ(got.fail.total, absl::Milliseconds(7));
  ASSERT_EQ(got.batches.size(), 1U);
  EXPECT_EQ(got.batches.at(4).compute_infer.count, 1U);
  EXPECT_EQ(got.batches.at(4).compute_infer.total, absl::Milliseconds(3));
}

TEST(ModelStatisticsTest, CountsEveryBatchSizeApart) {
  ModelStatistics statistics;
  for (const int rows : {1, 8, 8}) {
    statistics.AddBatch(rows, absl::ZeroDuration(), absl::Milliseconds(rows),
                        absl::ZeroDuration());
  }
  const ModelStatistics::Snapshot got = statistics.snapshot();
  EXPECT_EQ(got.execution_count, 3U);
  EXPECT_EQ(got.inference_count, 0U);  // rows count when they are answered
  EXPECT_EQ(got.batches.at(1).compute_infer.count, 1U);
  EXPECT_EQ(got.batches.at(8).compute_infer.count, 2U);
  EXPECT_EQ(got.batches.at(8).compute_infer.total, absl::Milliseconds(16));
}

TEST(ModelStatisticsTest, StartsEmpty) {
  const ModelStatistics::Snapshot got = ModelStatistics().snapshot();
  EXPECT_EQ(got.last_inference, absl::UnixEpoch());
  EXPECT_EQ(got.success.count, 0U);
  EXPECT_TRUE(got.batches.empty());
}

TEST(ModelStatisticsTest, ABatchsOutputTimeIsTheMeanOfItsRows) {
  ModelStatistics statistics;
  statistics.AddBatch(4, absl::ZeroDuration(), absl::Milliseconds(3),
                      absl::Milliseconds(1));
  ModelStatistics::Success success;
  success.batch_rows = 4;
  success.compute_output = absl::Milliseconds(4);
  statistics.AddSuccess(success);  // one row of it
  success.rows = 3;
  success.compute_output = absl::Milliseconds(8);
  statistics.AddSuccess(success);
  success.batch_rows = 0;  // of no batch that is known
  statistics.AddSuccess(success);
  const ModelStatistics::Snapshot snapshot = statistics.snapshot();
  ASSERT_EQ(snapshot.batches.size(), 1u);
  const DurationCount& output = snapshot.batches.at(4).compute_output;
  EXPECT_EQ(output.count, 1u);
  EXPECT_EQ(output.total, absl::Milliseconds(1 + 1 + 6));
  EXPECT_EQ(snapshot.compute_output.total, absl::Milliseconds(4 + 8 + 8));
}

}  // namespace
}  // namespace reprise
