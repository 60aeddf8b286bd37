#include "troupe/runtime/state/variable_address_guard.hpp"

#include <algorithm>

namespace troupe {
namespace {

thread_local variable_address_guard* guard_of_thread = nullptr;

} // namespace

variable_address_guard::variable_address_guard() noexcept { guard_of_thread = this; }
variable_address_guard::~variable_address_guard() { guard_of_thread = nullptr; }
variable_address_guard* variable_address_guard::current() noexcept { return guard_of_thread; }

void variable_address_guard::note(variable& used, const tensor& value, bool changed, bool locked) {
  auto known = std::ranges::lower_bound(places_, &used, std::less<>{}, &place::used_variable);
  if (known == places_.end() || known->used_variable != &used)
    known = places_.insert(known,
                           {.used_variable = &used, .memory = value.raw(), .dims = value.dims()});
  moved_ |= known->memory != value.raw() || !(known->dims == value.dims());
  known->changed |= changed;
  known->locked |= locked;
}

} // namespace troupe
