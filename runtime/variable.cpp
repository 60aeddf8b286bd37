#include "troupe/runtime/variable.hpp"

namespace troupe {

result<tensor> variable::read() const {
  std::lock_guard guard{mutex_};
  if (value_.empty())
    return uninitialized();
  return value_;
}

bool variable::initialized() const {
  std::lock_guard guard{mutex_};
  return !value_.empty();
}

status variable::assign(tensor value) {
  if (value.type() != type_)
    return invalid("variable '", name_, "' holds ", type_, ", got ", value.type());
  if (!dims_.compatible(value.dims()))
    return invalid("variable '", name_, "' has shape ", dims_, ", got ", value.dims());
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
  return failure(error_kind::failed_precondition, "variable '", name_,
                 "' is uninitialised: run its initialiser, or restore it, before it is used");
}

// A value that was assigned may be shared with a constant or a feed, which must not change.
status variable::make_private(bool racy, allocator& copies) {
  if (value_.empty())
    return uninitialized();
  if (!value_.unique() && !(racy && owned_)) {
    TROUPE_ASSIGN(value_, value_.clone(copies));
  }
  owned_ = true;
  return {};
}

result<std::shared_ptr<variable>> container::find_or_make(const std::string& name, dtype type,
                                                          const partial_shape& dims) {
  std::lock_guard guard{mutex_};
  auto& found = variables_[name];
  if (!found)
    found = std::make_shared<variable>(name, type, dims);
  else if (found->type() != type || !found->dims().compatible(dims))
    return invalid("variable '", name, "' exists as ", found->type(), found->dims(),
                   ", and is declared again as ", type, dims);
  return found;
}

void container::clear() {
  std::lock_guard guard{mutex_};
  for (auto& [name, one] : variables_)
    one->clear();
  variables_.clear();
}

size_t container::size() const {
  std::lock_guard guard{mutex_};
  return variables_.size();
}

} // namespace troupe
