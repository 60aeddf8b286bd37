#include "troupe/actors/base/rare_warnings.hpp"

#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

namespace troupe {

std::function<void(const std::string&)>
limit_to_one_per_second(std::function<void(const std::string&)> to) {
  struct shared {
    std::mutex mutex;
    std::chrono::steady_clock::time_point next{};
    size_t dropped = 0;
  };
  if (!to)
    return nullptr;
  return [to = std::move(to), state = std::make_shared<shared>()](const std::string& text) {
    size_t dropped = 0;
    {
      std::lock_guard guard{state->mutex};
      auto now = std::chrono::steady_clock::now();
      if (now < state->next) {
        ++state->dropped;
        return;
      }
      state->next = now + std::chrono::seconds{1};
      dropped = std::exchange(state->dropped, 0);
    }
    to(dropped ? concat(text, " (", dropped, " similar warnings were dropped)") : text);
  };
}

} // namespace troupe
