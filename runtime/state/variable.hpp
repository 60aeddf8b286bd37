// State that outlives steps, held by name in containers: variables (white paper 2, 4.7).
#pragma once
#include "troupe/runtime/state/state_info.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

class variable;

/// What containers hold. Any thread may call.
class named_state {
public:
  explicit named_state(std::string name) : name_(std::move(name)) {}
  named_state(const named_state&) = delete;
  named_state& operator=(const named_state&) = delete;
  virtual ~named_state() = default;

  const std::string& name() const noexcept { return name_; }
  /// The kind of state, for errors; different kinds may have the same name.
  virtual std::string_view kind() const noexcept = 0;
  /// Itself, where it is a variable that outlives steps.
  virtual variable* as_variable() noexcept { return nullptr; }
  /// Takes note of another declaration of the same kind and name; fails unless it says the same.
  virtual status declare_again(const named_state& other) = 0;
  /// Returns the value where the state is a single tensor.
  virtual result<tensor> read() const = 0;
  virtual void clear() = 0; ///< becomes uninitialised
  /// What it holds now; kind and name at least. Who holds it is not known here.
  virtual state_info describe() const { return {.kind = std::string{kind()}, .name = name_}; }

  /// Where it stands for what each step has of its own (op_def::per_step): which of these it is;
  /// else -1. To be set before any step runs.
  int index_in_step() const noexcept { return index_in_step_; }
  void set_index_in_step(int index) noexcept { index_in_step_ = index; }

  /// Another declaration has taken its place in the container: steps that use this one must not
  /// run any more.
  void retire() noexcept;
  bool retired() const noexcept { return retired_.load(std::memory_order_acquire); }
  /// How much has retired in this process; while it stays the same, nothing has.
  static uint64_t retirements() noexcept;

private:
  const std::string name_;
  std::atomic<bool> retired_{false};
  int index_in_step_ = -1;
};

/// A tensor that steps read and update. Reading shares the memory; an update copies only while
/// somebody still holds the old value, so that a read is a consistent snapshot. Any thread may
/// call.
class variable final : public named_state {
public:
  variable* as_variable() noexcept override { return index_in_step() < 0 ? this : nullptr; }
  variable(std::string name, dtype type, partial_shape dims)
      : named_state(std::move(name)), type_(type), dims_(std::move(dims)) {}

  std::string_view kind() const noexcept override { return "variable"; }
  status declare_again(const named_state& other) override;
  dtype type() const noexcept { return type_; }
  /// What all declarations together say. A declaration that says more than those before is a fact
  /// for all from then on, as its graph counts on it.
  partial_shape dims() const;

  /// Fails with failed_precondition while nothing was assigned.
  result<tensor> read() const override;
  bool initialized() const;
  /// Fails when type or shape do not fit.
  status assign(tensor value);
  void clear() override;
  state_info describe() const override;
  /// Lets go of the value until another is assigned; errors say so until then. Returns whether
  /// there was one.
  bool destroy();

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

  const dtype type_;
  partial_shape dims_;
  mutable std::mutex mutex_;
  tensor value_;
  bool owned_ = false; // the memory was made here: nobody but readers shares it
  bool destroyed_ = false;
};

/// The state of one task that belongs together, by name. Any thread may call.
class container {
public:
  /// Returns the state of that kind and name, which is the given one at first sight. Fails if it
  /// was declared otherwise, such as a variable with another type or shape. After clear() it may be
  /// declared otherwise; what programs still hold then retires.
  result<std::shared_ptr<named_state>> find_or_add(std::shared_ptr<named_state> declared);
  /// Clears all state and holds it no longer. What programs hold is found again by those that come
  /// later, so that one name never stands for two variables.
  void clear();
  size_t size() const; ///< declared since the last clear()
  /// What was declared since the last clear(), by kind and name.
  std::vector<std::shared_ptr<named_state>> all() const;
  /// Whether it holds nothing, and no program holds what it held before.
  bool unused() const;

private:
  struct entry {
    std::shared_ptr<named_state> held; // nothing after clear()
    std::weak_ptr<named_state> known;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, entry> all_; // by kind and name
};

} // namespace troupe
