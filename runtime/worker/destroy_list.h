// Executables and models that the worker's thread destroys without the lock.
#pragma once

#include <memory>
#include <vector>

#include "runtime/worker/served.h"

namespace reprise {

// Whoever takes something out of use adds it here, under the worker's lock. The
// worker's thread takes all of it, destroys it once the lock is released, and
// says under the lock that it has.
//
// Threads: none of its own; guarded by its owner.
class DestroyList {
 public:
  struct Item {
    Prepared prepared;
    std::unique_ptr<Served> served;
  };
  using Items = std::vector<Item>;

  void Add(Prepared prepared);
  // After all of its executables.
  void Add(std::unique_ptr<Served> served);

  bool empty() const { return items_.empty(); }
  // Whether nothing is being destroyed, either.
  bool idle() const { return items_.empty() && !destroying_; }

  // All that has been added. What Destroy returns of it goes to Finish.
  Items Take();
  // Never with the lock held. Returns the `removed` flags of the models.
  static std::vector<bool*> Destroy(Items items);
  // Sets them.
  void Finish(const std::vector<bool*>& removed);

 private:
  Items items_;
  bool destroying_ = false;
};

}  // namespace reprise
