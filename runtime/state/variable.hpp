// State that outlives steps: variables, and containers of named state (white paper 2, 4.7).
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

/// Base class of the state in containers. Any thread may call.
class named_state {
public:
  explicit named_state(std::string name) : name_(std::move(name)) {}
  named_state(const named_state&) = delete;
  named_state& operator=(const named_state&) = delete;
  virtual ~named_state() = default;

  const std::string& name() const noexcept { return name_; }
  /// The kind of state, for errors; different kinds may have the same name.
  virtual std::string_view kind() const noexcept = 0;
  /// Returns this, if it is a variable that outlives steps; else nullptr.
  virtual variable* as_variable() noexcept { return nullptr; }
  /// Merges another declaration of the same kind and name; fails unless it agrees.
  virtual status declare_again(const named_state& other) = 0;
  /// Returns the value where the state is a single tensor.
  virtual result<tensor> read() const = 0;
  virtual void clear() = 0; ///< makes the state uninitialized
  /// Summarizes the content, with at least kind and name. The caller fills in task and container.
  virtual state_info describe() const { return {.kind = std::string{kind()}, .name = name_}; }

  /// For state that each step has its own copy of (op_def::per_step), the index of the copy in the
  /// step; else -1. Must be set before any step runs.
  int index_in_step() const noexcept { return index_in_step_; }
  void set_index_in_step(int index) noexcept { index_in_step_ = index; }

  /// Marks a state whose place in the container another declaration has taken: steps that use it
  /// must not run any more.
  void retire() noexcept;
  bool retired() const noexcept { return retired_.load(std::memory_order_acquire); }
  /// Number of retirements in this process; while it is unchanged, no state has retired.
  static uint64_t retirement_count() noexcept;

private:
  const std::string name_;
  std::atomic<bool> retired_{false};
  int index_in_step_ = -1;
};

/// A tensor that steps read and update. A read shares the memory; an update copies the value only
/// if a reader still holds it, so a read is a consistent snapshot. Any thread may call.
class variable final : public named_state {
public:
  variable* as_variable() noexcept override { return index_in_step() < 0 ? this : nullptr; }
  variable(std::string name, dtype type, partial_shape dims)
      : named_state(std::move(name)), type_(type), dims_(std::move(dims)) {}

  std::string_view kind() const noexcept override { return "variable"; }
  status declare_again(const named_state& other) override;
  dtype type() const noexcept { return type_; }
  /// The shape by all declarations together. A declaration with more known extents than the earlier
  /// ones constrains the variable from then on, since its graph relies on it.
  partial_shape dims() const;

  /// Fails with failed_precondition if no value was assigned.
  result<tensor> read() const override;
  bool initialized() const;
  /// Fails if type or shape do not match.
  status assign(tensor value);
  void clear() override;
  state_info describe() const override;
  /// Drops the value; until the next assignment, errors say that it was destroyed. Returns whether
  /// there was a value.
  bool destroy();

  /// Updates the value in place under the lock: the body may write to its tensor, which no other
  /// thread reads meanwhile. If a copy is necessary, `copies` allocates it.
  template <class Body>
  status update(Body&& body, allocator& copies = heap_allocator()) {
    std::lock_guard guard{mutex_};
    TROUPE_TRY(make_private(false, copies));
    return body(value_);
  }
  /// Updates the value in place without the lock, while other threads may be reading it: the racy
  /// update of the papers.
  template <class Body>
  status update_unlocked(Body&& body, allocator& copies = heap_allocator()) {
    tensor value;
    {
      std::lock_guard guard{mutex_};
      TROUPE_TRY(make_private(true, copies));
      value = value_;
    }
    return body(value);
  }

private:
  status uninitialized() const;
  status make_private(bool racy, allocator& copies);

  const dtype type_;
  partial_shape dims_;
  mutable std::mutex mutex_;
  tensor value_;
  bool owned_ = false; // the variable allocated the memory: only readers share it
  bool destroyed_ = false;
};

/// The state of one task that belongs to one container name. Any thread may call.
class container {
public:
  /// Returns the state of that kind and name; the first declaration adds the given state. Fails if
  /// the declarations contradict, such as variables with different types or shapes. After clear(),
  /// a contradicting declaration is allowed; the state that programs still hold then retires.
  result<std::shared_ptr<named_state>> find_or_add(std::shared_ptr<named_state> declared);
  /// Clears all state and releases it. Later declarations still find the state that programs hold,
  /// so one name never stands for two variables.
  void clear();
  size_t size() const; ///< number of states declared since the last clear()
  /// Returns the states declared since the last clear(), by kind and name.
  std::vector<std::shared_ptr<named_state>> list() const;
  /// Returns whether the container is empty and no program holds a state that it held before.
  bool unused() const;

private:
  struct entry {
    std::shared_ptr<named_state> held; // null after clear()
    std::weak_ptr<named_state> known;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, entry> entries_; // by kind and name
};

} // namespace troupe
