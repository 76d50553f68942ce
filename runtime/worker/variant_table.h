// The variants of all models of a worker, and which of them is made next.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/batch/waiting.h"
#include "runtime/worker/destroy_list.h"
#include "runtime/worker/served.h"

namespace reprise {

// What is prepared of a variant in one go.
struct BuildPlan {
  std::vector<int> sizes;  // rungs
  int lanes = 1;
  bool partial = false;  // the rest of the ladder follows
};

// At most max_variants of a model exist. Those of the configuration stay; the
// others are made when a request asks for them, and leave for one another.
//
// Lifecycle of a variant on demand: FindOrAdd, NextToBuild, then Publish or
// Refuse; when the first rung was published, NextToBuild again for the rest.
// Threads: none of its own; guarded by its owner.
class VariantTable {
 public:
  std::span<Variant* const> all() const { return variants_; }
  // Whether a variant is to be made that has no room: call NextToBuild again
  // when another one may have become idle.
  bool room_wanted() const { return room_wanted_; }

  // The variants that `served` has by now.
  void AddAll(const Served& served);
  void RemoveAll(const Served& served);

  // The variant of `key`, or a new one that is to be made. INVALID_ARGUMENT if
  // the model cannot have it, or as it was refused before.
  absl::StatusOr<Variant*> FindOrAdd(Served& served, const VariantKey& key);

  // The variant to make next, marked so until it is published or refused; null
  // if there is none. What leaves for it goes to `evicted`. While `draining`,
  // only what somebody waits for is made.
  Variant* NextToBuild(bool draining, DestroyList& evicted);
  // For the log: "model=m dims=n=3" of those that have left for others since
  // this was called last.
  std::vector<std::string> TakeEvicted() { return std::exchange(evicted_, {}); }
  static BuildPlan Plan(const Variant& variant);

  // `made`, by `plan`, is what the variant runs on, or will when it is taken
  // over. It goes to `discarded` if the model is being removed.
  static void Publish(Variant& variant, const BuildPlan& plan, Prepared made,
                      absl::Time now, DestroyList& discarded);
  // It could not be prepared. Moves the requests that cannot run for that to
  // `refused`, to be answered with what is returned. The variant is gone unless
  // it has its first rung.
  absl::Status Refuse(Variant& variant, const absl::Status& why,
                      std::vector<Waiting>& refused);

  // For a request of `rows` for which `variant` has no rung: OK if one follows
  // (`build`: when it is asked for), else what the request is refused with.
  static absl::Status WantRungs(Variant& variant, int rows, bool& build);

 private:
  bool MakeRoom(const Variant& wanted, DestroyList& evicted);
  void Evict(Variant& variant, DestroyList& evicted);
  void Erase(Variant& variant);

  std::vector<Variant*> variants_;  // each owned by its model
  std::vector<std::string> evicted_;
  bool room_wanted_ = false;
};

}  // namespace reprise
