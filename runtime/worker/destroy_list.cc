#include "runtime/worker/destroy_list.h"

#include <utility>

namespace reprise {

void DestroyList::Add(Prepared prepared) {
  items_.push_back({.prepared = std::move(prepared), .served = nullptr});
}

void DestroyList::Add(std::unique_ptr<Served> served) {
  items_.push_back({.prepared = {}, .served = std::move(served)});
}

DestroyList::Items DestroyList::Take() {
  destroying_ = true;
  return std::exchange(items_, {});
}

std::vector<bool*> DestroyList::Destroy(Items items) {
  std::vector<bool*> removed;
  for (const Item& item : items) {
    if (item.served == nullptr || item.served->removed == nullptr) continue;
    removed.push_back(item.served->removed);
  }
  items.clear();
  return removed;
}

void DestroyList::Finish(const std::vector<bool*>& removed) {
  destroying_ = false;
  for (bool* flag : removed) *flag = true;
}

}  // namespace reprise
