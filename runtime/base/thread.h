// A named thread that is joined by its destructor.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace reprise {

// The only way to start a thread in this code base. Make it the last member of
// its class, so that it is joined before what it uses is destroyed.
class Thread {
 public:
  Thread() = default;
  // Starts `body`. At most 15 characters of `name` show in ps and debuggers.
  Thread(const std::string& name, std::function<void()> body);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { Join(); }

  // Waits for the body to return. Does nothing if there is none, or twice.
  void Join();

 private:
  std::thread thread_;
};

}  // namespace reprise
