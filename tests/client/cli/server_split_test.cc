#include "client/cli/server_split.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::client {
namespace {

using inference::ModelStatisticsResponse;
using ::testing::ElementsAre;
using ::testing::Pair;

void Set(uint64_t count, uint64_t ns, inference::StatisticDuration* duration) {
  duration->set_count(count);
  duration->set_ns(ns);
}

// A version after `requests` requests, two to a batch.
void AddVersion(const char* version, uint64_t requests,
                ModelStatisticsResponse& response) {
  auto& model = *response.add_model_stats();
  model.set_version(version);
  model.set_inference_count(requests);
  model.set_execution_count(requests / 2);
  auto& stats = *model.mutable_inference_stats();
  Set(requests, requests * 100, stats.mutable_success());
  Set(requests, requests * 40, stats.mutable_queue());
  Set(requests, requests * 10, stats.mutable_compute_input());
  Set(requests, requests * 30, stats.mutable_compute_infer());
  Set(requests, requests * 20, stats.mutable_compute_output());
  auto& batch = *model.add_batch_stats();
  batch.set_batch_size(2);
  Set(requests / 2, 1, batch.mutable_compute_infer());
}

TEST(ServerSplitTest, IsWhatGrewBetweenTwoLooks) {
  ModelStatisticsResponse before;
  AddVersion("1", 10, before);
  ModelStatisticsResponse after;
  AddVersion("1", 30, after);
  const ServerSplit split = SplitBetween(before, after);
  EXPECT_FALSE(split.restarted);
  EXPECT_EQ(split.requests, 20);
  EXPECT_EQ(split.failed, 0);
  EXPECT_EQ(split.rows, 20);
  EXPECT_EQ(split.batches, 10);
  EXPECT_EQ(split.rows_per_batch(), 2);
  EXPECT_EQ(split.queue_ns, 40);
  EXPECT_EQ(split.input_ns, 10);
  EXPECT_EQ(split.infer_ns, 30);
  EXPECT_EQ(split.output_ns, 20);
  EXPECT_EQ(split.total_ns(), 100);
  EXPECT_THAT(split.batches_by_size, ElementsAre(Pair(2, 10)));
}

TEST(ServerSplitTest, AddsVersionsUpAndSurvivesAReload) {
  ModelStatisticsResponse before;
  AddVersion("1", 100, before);
  ModelStatisticsResponse after;
  AddVersion("1", 4, after);  // loaded again: its counters began anew
  AddVersion("2", 6, after);
  const ServerSplit split = SplitBetween(before, after);
  EXPECT_TRUE(split.restarted);
  EXPECT_EQ(split.requests, 10);
  EXPECT_EQ(split.queue_ns, 40);
  EXPECT_THAT(split.batches_by_size, ElementsAre(Pair(2, 5)));
}

TEST(ServerSplitTest, CountersThatCaughtUpAreToldByTheAnswersThatTheyLack) {
  ModelStatisticsResponse before;
  AddVersion("1", 10, before);
  ModelStatisticsResponse after;
  AddVersion("1", 30, after);
  EXPECT_FALSE(SplitOf(before, after, 20).restarted);
  EXPECT_FALSE(SplitOf(before, after, 5).restarted);  // others asked, too
  const ServerSplit split = SplitOf(before, after, 34);
  EXPECT_TRUE(split.restarted);
  EXPECT_EQ(split.requests, 30);
  EXPECT_FALSE(SplitOf({}, {}, 5).restarted);  // it counts nothing
}

TEST(ServerSplitTest, AVersionThatWentIsTold) {
  ModelStatisticsResponse before;
  AddVersion("1", 10, before);
  ModelStatisticsResponse after;
  AddVersion("2", 6, after);
  EXPECT_TRUE(SplitBetween(before, after).restarted);
  EXPECT_FALSE(SplitBetween({}, after).restarted);
}

TEST(ServerSplitTest, RowsThatFailedAreInTheMeanBatch) {
  ModelStatisticsResponse after;
  AddVersion("1", 10, after);
  after.mutable_model_stats(0)->set_inference_count(1);  // the others were late
  const ServerSplit split = SplitBetween({}, after);
  EXPECT_EQ(split.rows, 1);
  EXPECT_EQ(split.rows_per_batch(), 2);
}

TEST(ServerSplitTest, AServerMayNotTellTheSizes) {
  EXPECT_EQ(MeanBatch({}, 12, 4), 3);
  EXPECT_EQ(MeanBatch({}, 0, 0), 0);
  EXPECT_EQ(MeanBatch({{1, 2}, {4, 1}}, 3, 3), 2);
}

TEST(ServerSplitTest, NothingGrewIsZero) {
  ModelStatisticsResponse same;
  AddVersion("1", 10, same);
  const ServerSplit split = SplitBetween(same, same);
  EXPECT_EQ(split.requests, 0);
  EXPECT_EQ(split.queue_ns, 0);
  EXPECT_EQ(split.rows_per_batch(), 0);
  EXPECT_TRUE(split.batches_by_size.empty());
}

}  // namespace
}  // namespace reprise::client
