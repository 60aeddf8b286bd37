#include "troupe/runtime/state/steady_variables.hpp"

#include <algorithm>

namespace troupe {
namespace {

thread_local steady_variables* mine = nullptr;

} // namespace

steady_variables::steady_variables() noexcept { mine = this; }
steady_variables::~steady_variables() { mine = nullptr; }
steady_variables* steady_variables::current() noexcept { return mine; }

void steady_variables::note(variable& which, const tensor& value, bool changed, bool locked) {
  auto at = std::ranges::lower_bound(places_, &which, std::less<>{}, &place::which);
  if (at == places_.end() || at->which != &which)
    at = places_.insert(at, {.which = &which, .memory = value.raw(), .dims = value.dims()});
  moved_ |= at->memory != value.raw() || !(at->dims == value.dims());
  at->changed |= changed;
  at->locked |= locked;
}

} // namespace troupe
