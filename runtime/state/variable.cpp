#include "troupe/runtime/state/variable.hpp"

#include "troupe/runtime/state/retirements.hpp"
#include "troupe/runtime/state/variable_address_guard.hpp"

#include <algorithm>

namespace troupe {
namespace {

std::string place_of(const memory_space* space) { return space ? space->name() : "the host"; }

status must_stay(const std::string& name) {
  return failure(error_kind::aborted, "variable '", name,
                 "' would get other memory while launches are noted down");
}

} // namespace

result<tensor> variable::read() const {
  std::lock_guard guard{mutex_};
  if (value_.empty())
    return uninitialized();
  if (auto* steady = variable_address_guard::current()) [[unlikely]]
    steady->note(const_cast<variable&>(*this), value_, false, false);
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
    return must_stay(name());
  std::lock_guard guard{mutex_};
  if (!dims_.compatible(value.dims()))
    return invalid("variable '", name(), "' has shape ", dims_, ", got ", value.dims());
  value_ = std::move(value);
  owned_ = destroyed_ = false;
  return {};
}

state_info variable::describe() const {
  auto about = named_state::describe();
  std::lock_guard guard{mutex_};
  if (value_.empty()) {
    about.holds = concat(type_, dims_);
    about.content = destroyed_ ? "destroyed" : "uninitialised";
  } else {
    about.holds = concat(type_, value_.dims());
    about.content = value_.space() ? concat("on ", value_.space()->name()) : "initialised";
    about.bytes = value_.bytes();
  }
  return about;
}

void variable::clear() {
  std::lock_guard guard{mutex_};
  value_.reset();
  owned_ = destroyed_ = false;
}

bool variable::destroy() {
  std::lock_guard guard{mutex_};
  auto there_was_one = !value_.empty();
  value_.reset();
  owned_ = false;
  destroyed_ = destroyed_ || there_was_one;
  return there_was_one;
}

status variable::uninitialized() const {
  if (destroyed_)
    return failure(error_kind::failed_precondition, "variable '", name(),
                   "' was destroyed: assign it anew before it is used");
  return failure(error_kind::failed_precondition, "variable '", name(),
                 "' is uninitialised: run its initialiser, or restore it, before it is used");
}

// A value that was assigned may be shared with a constant or a feed, which must not change.
status variable::make_private(bool racy, allocator& copies) {
  if (value_.empty())
    return uninitialized();
  if (value_.space() != copies.space())
    return failure(error_kind::failed_precondition, "variable '", name(),
                   "' lies in the memory of ", place_of(value_.space()),
                   " and cannot be updated on ", place_of(copies.space()),
                   ": place its ops where it was assigned, or assign it anew");
  auto* steady = variable_address_guard::current();
  if (steady) [[unlikely]]
    steady->note(*this, value_, true, !racy);
  if (!value_.unique() && !(racy && owned_)) {
    if (steady)
      return must_stay(name());
    TROUPE_ASSIGN(value_, value_.clone(copies));
  }
  owned_ = true;
  return {};
}

status variable::declare_again(const named_state& other) {
  const auto& again = static_cast<const variable&>(other);
  std::lock_guard guard{mutex_};
  auto joint = merge(dims_, again.dims_);
  if (again.type_ != type_ || !joint)
    return invalid("variable '", name(), "' exists as ", type_, dims_,
                   ", and is declared again as ", again.type_, again.dims_);
  if (!value_.empty() && !joint->compatible(value_.dims()))
    return invalid("variable '", name(), "' holds ", type_, value_.dims(),
                   ", and is declared again as ", again.type_, again.dims_);
  dims_ = *std::move(joint);
  if (value_.empty() && !destroyed_) { // a local variable is declared with the value it begins with
    value_ = again.value_;
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
  all_retirements.fetch_add(1, std::memory_order_release);
}

uint64_t named_state::retirements() noexcept {
  return all_retirements.load(std::memory_order_acquire);
}

result<std::shared_ptr<named_state>> container::find_or_add(std::shared_ptr<named_state> declared) {
  std::lock_guard guard{mutex_};
  auto& at = all_[{std::string{declared->kind()}, declared->name()}];
  if (at.held) {
    TROUPE_TRY(at.held->declare_again(*declared));
    return at.held;
  }
  if (auto before = at.known.lock()) {
    if (before->declare_again(*declared)) {
      at.held = std::move(before);
      return at.held;
    }
    before->retire();
  }
  at = {declared, declared};
  return declared;
}

// State is cleared without the lock: who waits for it is told then, and does what it likes.
void container::clear() {
  std::vector<std::shared_ptr<named_state>> cleared;
  {
    std::lock_guard guard{mutex_};
    for (auto& [name, one] : all_) // programs may have used again what was cleared before
      if (auto known = one.held ? std::exchange(one.held, nullptr) : one.known.lock())
        cleared.push_back(std::move(known));
  }
  for (auto& one : cleared)
    std::exchange(one, nullptr)->clear();
  std::lock_guard guard{mutex_};
  std::erase_if(all_,
                [](const auto& one) { return !one.second.held && one.second.known.expired(); });
}

bool container::unused() const {
  std::lock_guard guard{mutex_};
  return std::ranges::all_of(
      all_, [](const auto& one) { return !one.second.held && one.second.known.expired(); });
}

std::vector<std::shared_ptr<named_state>> container::all() const {
  std::vector<std::shared_ptr<named_state>> found;
  std::lock_guard guard{mutex_};
  for (const auto& [name, one] : all_)
    if (one.held)
      found.push_back(one.held);
  return found;
}

size_t container::size() const {
  std::lock_guard guard{mutex_};
  return static_cast<size_t>(
      std::ranges::count_if(all_, [](const auto& one) { return one.second.held != nullptr; }));
}

} // namespace troupe
