#include "troupe/runtime/state/variable.hpp"

#include "troupe/runtime/state/retirements.hpp"
#include "troupe/runtime/state/variable_address_guard.hpp"

#include <algorithm>

namespace troupe {
namespace {

std::string place_of(const memory_space* space) { return space ? space->name() : "the host"; }

status address_must_stay(const std::string& name) {
  return failure(error_kind::aborted, "variable '", name,
                 "' would get other memory while launches that use it are captured or replayed");
}

} // namespace

result<tensor> variable::read() const {
  std::lock_guard guard{mutex_};
  if (value_.empty())
    return uninitialized();
  if (auto* address_guard = variable_address_guard::current()) [[unlikely]]
    address_guard->note(const_cast<variable&>(*this), value_, false, false);
  return value_;
}

bool variable::initialized() const {
  std::lock_guard guard{mutex_};
  return !value_.empty();
}

status variable::assign(tensor value) {
  if (value.type() != type_)
    return invalid("variable '", name(), "' holds ", type_, ", got ", value.type());
  if (variable_address_guard::current()) [[unlikely]]
    return address_must_stay(name());
  std::lock_guard guard{mutex_};
  if (!dims_.compatible(value.dims()))
    return invalid("variable '", name(), "' has shape ", dims_, ", got ", value.dims());
  value_ = std::move(value);
  owned_ = destroyed_ = false;
  return {};
}

state_info variable::describe() const {
  auto info = named_state::describe();
  std::lock_guard guard{mutex_};
  if (value_.empty()) {
    info.holds = concat(type_, dims_);
    info.content = destroyed_ ? "destroyed" : "uninitialized";
  } else {
    info.holds = concat(type_, value_.dims());
    info.content = value_.space() ? concat("on ", value_.space()->name()) : "initialized";
    info.bytes = value_.bytes();
  }
  return info;
}

void variable::clear() {
  std::lock_guard guard{mutex_};
  value_.reset();
  owned_ = destroyed_ = false;
}

bool variable::destroy() {
  std::lock_guard guard{mutex_};
  auto had_value = !value_.empty();
  value_.reset();
  owned_ = false;
  destroyed_ = destroyed_ || had_value;
  return had_value;
}

status variable::uninitialized() const {
  if (destroyed_)
    return failure(error_kind::failed_precondition, "variable '", name(),
                   "' was destroyed: assign it anew before it is used");
  return failure(error_kind::failed_precondition, "variable '", name(),
                 "' is uninitialized: run its initializer, or restore it, before it is used");
}

// An assigned value may share its memory with a constant or a feed, which must not change.
status variable::make_private(bool racy, allocator& copies) {
  if (value_.empty())
    return uninitialized();
  if (value_.space() != copies.space())
    return failure(error_kind::failed_precondition, "variable '", name(),
                   "' lies in the memory of ", place_of(value_.space()),
                   " and cannot be updated on ", place_of(copies.space()),
                   ": place its ops where it was assigned, or assign it anew");
  auto* address_guard = variable_address_guard::current();
  if (address_guard) [[unlikely]]
    address_guard->note(*this, value_, true, !racy);
  if (!value_.unique() && !(racy && owned_)) {
    if (address_guard)
      return address_must_stay(name());
    TROUPE_ASSIGN(value_, value_.clone(copies));
  }
  owned_ = true;
  return {};
}

status variable::declare_again(const named_state& other) {
  const auto& redeclared = static_cast<const variable&>(other);
  std::lock_guard guard{mutex_};
  auto joint = merge(dims_, redeclared.dims_);
  if (redeclared.type_ != type_ || !joint)
    return invalid("variable '", name(), "' exists as ", type_, dims_,
                   ", and is declared again as ", redeclared.type_, redeclared.dims_);
  if (!value_.empty() && !joint->compatible(value_.dims()))
    return invalid("variable '", name(), "' holds ", type_, value_.dims(),
                   ", and is declared again as ", redeclared.type_, redeclared.dims_);
  dims_ = *std::move(joint);
  if (value_.empty() && !destroyed_) { // the declaration of a local variable has its first value
    value_ = redeclared.value_;
    owned_ = false;
  }
  return {};
}

partial_shape variable::dims() const {
  std::lock_guard guard{mutex_};
  return dims_;
}

void named_state::retire() noexcept {
  retired_.store(true, std::memory_order_release);
  retirement_counter.fetch_add(1, std::memory_order_release);
}

uint64_t named_state::retirement_count() noexcept {
  return retirement_counter.load(std::memory_order_acquire);
}

result<std::shared_ptr<named_state>> container::find_or_add(std::shared_ptr<named_state> declared) {
  std::lock_guard guard{mutex_};
  auto& entry_of_name = entries_[{std::string{declared->kind()}, declared->name()}];
  if (entry_of_name.held) {
    TROUPE_TRY(entry_of_name.held->declare_again(*declared));
    return entry_of_name.held;
  }
  if (auto earlier = entry_of_name.known.lock()) {
    if (earlier->declare_again(*declared)) {
      entry_of_name.held = std::move(earlier);
      return entry_of_name.held;
    }
    earlier->retire();
  }
  entry_of_name = {declared, declared};
  return declared;
}

// Clears the state without the lock: clear() answers the requests that wait for it, and their
// callers may use the container.
void container::clear() {
  std::vector<std::shared_ptr<named_state>> cleared;
  {
    std::lock_guard guard{mutex_};
    for (auto& [name, state] : entries_) // programs may use a state again that was cleared before
      if (auto known = state.held ? std::exchange(state.held, nullptr) : state.known.lock())
        cleared.push_back(std::move(known));
  }
  for (auto& state : cleared)
    std::exchange(state, nullptr)->clear();
  std::lock_guard guard{mutex_};
  std::erase_if(entries_, [](const auto& state) {
    return !state.second.held && state.second.known.expired();
  });
}

bool container::unused() const {
  std::lock_guard guard{mutex_};
  return std::ranges::all_of(entries_, [](const auto& state) {
    return !state.second.held && state.second.known.expired();
  });
}

std::vector<std::shared_ptr<named_state>> container::list() const {
  std::vector<std::shared_ptr<named_state>> declared;
  std::lock_guard guard{mutex_};
  for (const auto& [name, state] : entries_)
    if (state.held)
      declared.push_back(state.held);
  return declared;
}

size_t container::size() const {
  std::lock_guard guard{mutex_};
  return static_cast<size_t>(std::ranges::count_if(
      entries_, [](const auto& state) { return state.second.held != nullptr; }));
}

} // namespace troupe
