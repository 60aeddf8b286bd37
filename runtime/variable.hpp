// State that outlives steps: variables, held by name in containers (white paper 2, 4.7).
#pragma once
#include "troupe/runtime/tensor.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace troupe {

/// A tensor that steps read and update. Reading shares the memory; an update copies only while
/// somebody still holds the old value, so that a read is a consistent snapshot. Any thread may
/// call.
class variable {
public:
  variable(std::string name, dtype type, partial_shape dims)
      : name_(std::move(name)), type_(type), dims_(std::move(dims)) {}

  const std::string& name() const noexcept { return name_; }
  dtype type() const noexcept { return type_; }
  const partial_shape& dims() const noexcept { return dims_; }

  /// Fails with failed_precondition while nothing was assigned.
  result<tensor> read() const;
  bool initialized() const;
  /// Fails when type or shape do not fit.
  status assign(tensor value);
  void clear(); ///< becomes uninitialised

  /// Changes the value in place under the lock: the body may write to the tensor that it gets,
  /// which nobody else sees meanwhile. A copy gets its memory from `copies`.
  template <class Body>
  status update(Body&& body, allocator& copies = heap_allocator()) {
    std::lock_guard guard{mutex_};
    TROUPE_TRY(make_private(false, copies));
    return body(value_);
  }
  /// Changes the value in place without the lock, over the eyes of readers: the papers' racy
  /// update.
  template <class Body>
  status update_unlocked(Body&& body, allocator& copies = heap_allocator()) {
    tensor mine;
    {
      std::lock_guard guard{mutex_};
      TROUPE_TRY(make_private(true, copies));
      mine = value_;
    }
    return body(mine);
  }

private:
  status uninitialized() const;
  status make_private(bool racy, allocator& copies);

  const std::string name_;
  const dtype type_;
  const partial_shape dims_;
  mutable std::mutex mutex_;
  tensor value_;
  bool owned_ = false; // the memory was made here: nobody but readers shares it
};

/// The variables of one task that belong together, by name. Any thread may call.
class container {
public:
  /// Returns the variable, making it at first sight. Fails if it exists with another type or shape.
  result<std::shared_ptr<variable>> find_or_make(const std::string& name, dtype type,
                                                 const partial_shape& dims);
  void clear(); ///< forgets all variables; programs that hold them go on with uninitialised ones
  size_t size() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<variable>, std::less<>> variables_;
};

} // namespace troupe
