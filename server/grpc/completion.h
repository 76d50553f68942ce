// What a completion queue's tags point to.
#pragma once

namespace reprise {

// Threads: OnCompletion runs on a thread that polls the queue: it must not
// wait for anything.
class CompletionHandler {
 public:
  virtual ~CompletionHandler() = default;
  virtual void OnCompletion(bool ok) = 0;
};

// One kind of event of an object: a tag that calls `Method` of its owner.
template <typename Owner, void (Owner::*Method)(bool)>
class Event final : public CompletionHandler {
 public:
  explicit Event(Owner* owner) : owner_(owner) {}
  void OnCompletion(bool ok) override { (owner_->*Method)(ok); }
  // gRPC gives a tag back as it took it: as this base class.
  void* tag() { return static_cast<CompletionHandler*>(this); }

 private:
  Owner* const owner_;
};

}  // namespace reprise
