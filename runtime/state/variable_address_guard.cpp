#include "troupe/runtime/state/variable_address_guard.hpp"

#include <algorithm>

namespace troupe {
namespace {

thread_local variable_address_guard* mine = nullptr;

} // namespace

variable_address_guard::variable_address_guard() noexcept { mine = this; }
variable_address_guard::~variable_address_guard() { mine = nullptr; }
variable_address_guard* variable_address_guard::current() noexcept { return mine; }

void variable_address_guard::note(variable& which, const tensor& value, bool changed, bool locked) {
  auto at = std::ranges::lower_bound(places_, &which, std::less<>{}, &place::which);
  if (at == places_.end() || at->which != &which)
    at = places_.insert(at, {.which = &which, .memory = value.raw(), .dims = value.dims()});
  moved_ |= at->memory != value.raw() || !(at->dims == value.dims());
  at->changed |= changed;
  at->locked |= locked;
}

} // namespace troupe
