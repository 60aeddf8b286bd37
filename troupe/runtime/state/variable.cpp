#include "troupe/runtime/state/variable.hpp"

#include "troupe/runtime/state/variable_address_guard.hpp"

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
  if (!dims_.compatible(value.dims()))
    return invalid("variable '", name(), "' has shape ", dims_, ", got ", value.dims());
  if (variable_address_guard::current()) [[unlikely]]
    return must_stay(name());
  std::lock_guard guard{mutex_};
  value_ = std::move(value);
  owned_ = false;
  return {};
}

void variable::clear() {
  std::lock_guard guard{mutex_};
  value_.reset();
  owned_ = false;
}

status variable::uninitialized() const {
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

status variable::declared_as(const named_state& other) const {
  const auto& again = static_cast<const variable&>(other);
  if (again.type_ != type_ || !again.dims_.compatible(dims_))
    return invalid("variable '", name(), "' exists as ", type_, dims_,
                   ", and is declared again as ", again.type_, again.dims_);
  return {};
}

result<std::shared_ptr<named_state>> container::find_or_add(std::shared_ptr<named_state> declared) {
  std::lock_guard guard{mutex_};
  auto [it, fresh] = all_.emplace(std::pair{declared->kind(), declared->name()}, declared);
  if (!fresh)
    TROUPE_TRY(it->second->declared_as(*declared));
  return it->second;
}

void container::clear() {
  std::lock_guard guard{mutex_};
  for (auto& [name, one] : all_)
    one->clear();
  all_.clear();
}

size_t container::size() const {
  std::lock_guard guard{mutex_};
  return all_.size();
}

} // namespace troupe
