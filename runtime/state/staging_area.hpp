// Tuples of tensors that wait between two steps, in line or under keys.
#pragma once
#include "troupe/runtime/state/element_store.hpp"
#include "troupe/runtime/state/responder.hpp"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

namespace troupe {

/// How a staging area finds its tuples.
enum class staging_order : uint8_t {
  line,   ///< first in, first out
  keys,   ///< by key; without one, any
  sorted, ///< by key; without one, the least
};

struct staging_options {
  std::string name;
  staging_order order = staging_order::line;
  int64_t capacity = 0;     ///< tuples; 0: no limit
  int64_t memory_limit = 0; ///< bytes of all tuples; 0: no limit
};

/// Requests that put in, and those that take out, are served in the order of their arrival; one
/// that waits for a key that does not come holds up no other. What a step has taken goes back if it
/// fails.
class staging_area final : public responder {
public:
  static result<std::unique_ptr<staging_area>> make(staging_options options);

  /// Puts in a tuple. Waits while the area is full; fails where a tuple alone is larger than the
  /// limit.
  void put(request_id who, element what, answers& done);
  /// Where those components of a tuple belong.
  struct place {
    int64_t key = 0;
    std::vector<int64_t> indices = {};
    size_t components = 1; ///< of the whole tuple, which is there once it has all
  };
  void put(request_id who, const place& where, element what, answers& done);

  struct taking {
    std::optional<int64_t> key = {};   ///< none: whichever is first
    std::optional<int64_t> index = {}; ///< of the line: only look, at the one in that place
    std::vector<int64_t> indices = {}; ///< of components; with a key, the others stay in
    bool all = true;                   ///< the components; else those that `indices` name
    bool looks = false;                ///< leaves all in
    bool gives_key = false;            ///< before the components
  };
  /// Takes out a tuple, or looks at it. Waits until it is there.
  void take(request_id who, taking how, answers& done);

  int64_t size() const noexcept { return static_cast<int64_t>(tuples_.size()); }
  int64_t incomplete() const noexcept { return static_cast<int64_t>(incomplete_.size()); }
  void clear(answers& done);

  std::string_view kind() const noexcept override { return "staging area"; }
  status declare_again(const responder& other) const override;
  void cancel(const which_requests& which, const status& why, answers& done) override;
  bool holds_for(step_id step) const override { return taken_.contains(step); }
  void settle(step_id step, bool failed, answers& done) override;
  void reset(const status& why, answers& done) override;
  std::string describe() const override;
  uint64_t bytes() const override { return bytes_; }

private:
  struct pending_put {
    request_id who;
    place where;
    element tensors;
    size_t bytes = 0;
  };
  struct pending_take {
    request_id who;
    taking how;
  };
  struct taken_tuple {
    int64_t key = 0;
    element tensors; // with empty ones where they stayed in
  };

  explicit staging_area(staging_options options);

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status check(const std::vector<int64_t>& indices, size_t components) const;
  bool fits(const pending_put& what) const noexcept;
  bool admit(answers& done);
  bool serve(answers& done);
  bool answer_take(const pending_take& what, answers& done);
  void settle_lines(answers& done);

  const staging_options options_;
  std::multimap<int64_t, element> tuples_; // by key (several where one went back), or by place
  std::map<int64_t, element> incomplete_;
  int64_t next_ = 0; // place in line
  size_t bytes_ = 0;
  std::deque<pending_put> puts_;
  std::deque<pending_take> takes_;
  std::unordered_map<step_id, std::vector<taken_tuple>> taken_;
};

} // namespace troupe
