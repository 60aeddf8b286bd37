// Holds tuples of tensors between two steps, first in first out or under keys.
#pragma once
#include "troupe/runtime/state/element_store.hpp"
#include "troupe/runtime/state/waitable_resource.hpp"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

namespace troupe {

/// The access to tuples.
enum class staging_order : uint8_t {
  fifo,         ///< first in, first out
  by_key,       ///< by key; a request without a key gets any tuple
  by_least_key, ///< by key; a request without a key gets the tuple with the least key
};

struct staging_options {
  std::string name;
  staging_order order = staging_order::fifo;
  int64_t capacity = 0;     ///< tuples; 0: no limit
  int64_t memory_limit = 0; ///< bytes of all tuples; 0: no limit
};

/// Requests that put, and requests that take, are served in the order of their arrival; a request
/// that waits for an absent key does not block others. Tuples that a step has taken go back if it
/// fails.
class staging_area final : public waitable_resource {
public:
  static result<std::unique_ptr<staging_area>> make(staging_options options);

  /// Puts in a tuple. Waits while the area is full; fails if the tuple alone exceeds the memory
  /// limit.
  void put(request_id request, element components, answers& done);
  /// The place of some components of a tuple.
  struct place {
    int64_t key = 0;
    std::vector<int64_t> indices = {};
    size_t components = 1; ///< of the whole tuple, which is complete once it has all of them
  };
  void put(request_id request, const place& where, element components, answers& done);

  struct take_options {
    std::optional<int64_t> key = {};   ///< none: the first tuple
    std::optional<int64_t> index = {}; ///< first in, first out only: the tuple to look at
    std::vector<int64_t> indices = {}; ///< components to take; with a key, the others stay in
    bool all_components = true;        ///< take all components; else those of `indices`
    bool peek = false;                 ///< leave the tuple in
    bool with_key = false;             ///< return the key before the components
  };
  /// Takes out a tuple, or looks at it. Waits until the tuple is complete.
  void take(request_id request, take_options options, answers& done);

  int64_t size() const noexcept { return static_cast<int64_t>(tuples_.size()); }
  int64_t incomplete() const noexcept { return static_cast<int64_t>(incomplete_.size()); }
  void clear(answers& done);

  std::string_view kind() const noexcept override { return "staging area"; }
  status declare_again(const waitable_resource& other) const override;
  void cancel(const request_filter& selected, const status& reason, answers& done) override;
  bool holds_for(step_id step) const override { return taken_.contains(step); }
  void end_step(step_id step, bool failed, answers& done) override;
  void reset(const status& reason, answers& done) override;
  std::string describe() const override;
  uint64_t bytes() const override { return bytes_; }

private:
  struct pending_put {
    request_id id;
    place where;
    element tensors;
    size_t bytes = 0;
  };
  struct pending_take {
    request_id id;
    take_options options;
  };
  struct taken_tuple {
    int64_t key = 0;
    element tensors; // empty where a component stayed in
  };

  explicit staging_area(staging_options options);

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status check(const std::vector<int64_t>& indices, size_t components) const;
  bool fits(const pending_put& pending) const noexcept;
  bool admit(answers& done);
  bool serve(answers& done);
  bool answer_take(const pending_take& pending, answers& done);
  void serve_waiting(answers& done);

  const staging_options options_;
  // By key, or by position. A key may have several tuples after a tuple went back.
  std::multimap<int64_t, element> tuples_;
  std::map<int64_t, element> incomplete_;
  int64_t next_ = 0; // the position of the next tuple
  size_t bytes_ = 0;
  std::deque<pending_put> puts_;
  std::deque<pending_take> takes_;
  std::unordered_map<step_id, std::vector<taken_tuple>> taken_;
};

} // namespace troupe
