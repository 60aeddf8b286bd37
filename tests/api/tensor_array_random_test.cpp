// Random programs of TensorArray and stack ops against a model of a few lines.
#include "tests/support/catch.hpp"
#include "tests/support/failure_of.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <numeric>
#include <optional>
#include <random>

namespace troupe::test::tensor_array_random_test {
namespace {

using row = std::vector<double>; // an element
using outcome = std::optional<row>;
constexpr auto f64 = dtype::f64;
constexpr auto wrong = std::nullopt;

// What an array does, as its documentation says it; nothing for an error.
struct model {
  struct element {
    row value = {};
    bool written = false, read = false, cleared = false;
  };
  std::vector<element> elements = {};
  bool grows = false, clears = false, same = false;
  int64_t extent = -1; // of elements, where it is known
  std::vector<row> pile = {};
  size_t most = 0;

  outcome write(int at, row value) {
    if (at < 0 || (!grows && at >= int(elements.size())) ||
        (extent >= 0 && extent != std::ssize(value)))
      return wrong;
    if (at >= int(elements.size()))
      elements.resize(size_t(at) + 1);
    if (same)
      extent = std::ssize(value);
    auto& to = elements[size_t(at)];
    if (to.written || to.read)
      return wrong;
    to = {std::move(value), true};
    return row{};
  }
  outcome read(int at) {
    if (at < 0 || at >= int(elements.size()))
      return wrong;
    auto& from = elements[size_t(at)];
    if (!from.written && extent < 0)
      return wrong;
    if (!from.written)
      from = {row(size_t(extent)), true};
    if (from.cleared)
      return wrong;
    from.read = true;
    from.cleared = clears;
    return from.value;
  }
  std::vector<int> all() const {
    std::vector<int> made(elements.size());
    std::iota(made.begin(), made.end(), 0);
    return made;
  }
  outcome join(const std::vector<int>& which, bool alike) {
    auto first = which.empty() ? extent : -1;
    row all;
    for (auto at : which) {
      auto one = read(at);
      if (!one || (alike && first >= 0 && first != std::ssize(*one)))
        return wrong;
      first = std::ssize(*one);
      all.insert(all.end(), one->begin(), one->end());
    }
    return first >= 0 ? outcome{all} : wrong;
  }
};

struct operation {
  enum class kind { write, read, gather, scatter, concat, split, size, push, pop } what;
  std::vector<int> places = {};
  std::vector<row> rows = {};
};

outcome apply(model& to, const operation& one) {
  using kind = operation::kind;
  switch (one.what) {
    case kind::write: return to.write(one.places[0], one.rows[0]);
    case kind::read: return to.read(one.places[0]);
    case kind::gather: return to.join(one.places, true);
    case kind::concat: return to.join(to.all(), false);
    case kind::size: return row{double(to.elements.size())};
    case kind::push:
      if (to.pile.size() == to.most)
        return wrong;
      to.pile.push_back(one.rows[0]);
      return one.rows[0];
    case kind::pop: {
      if (to.pile.empty())
        return wrong;
      auto last = to.pile.back();
      to.pile.pop_back();
      return last;
    }
    case kind::split:
      if (to.grows ? one.rows.size() < to.elements.size() : one.rows.size() != to.elements.size())
        return wrong;
      break;
    case kind::scatter: break;
  }
  for (size_t i = 0; i < one.rows.size(); ++i) // of scatter and split
    if (!to.write(one.places[i], one.rows[i]))
      return wrong;
  return row{};
}

class drawer {
public:
  explicit drawer(uint32_t seed) : random_(seed) {}

  // Says whether the program ran to its end.
  bool run() {
    make();
    int failed = -1;
    for (int k = 0; k < 14 && failed < 0; ++k) {
      auto chosen = draw();
      auto expected = apply(model_, chosen);
      add(chosen, concat("op_", k), expected);
      if (!expected)
        failed = k;
    }
    auto s = session::local();
    std::vector<tensor> found;
    auto why = failure_of([&] { found = s.run({}, fetches_, {last_}); });
    INFO(told_);
    if (failed >= 0) {
      CHECK_THAT(why, Catch::Matchers::Contains(concat("'op_", failed, "'")));
      return false;
    }
    REQUIRE(why == "no error");
    for (size_t i = 0; i < fetches_.size(); ++i) {
      auto got = found[i].values<double>();
      CHECK(row(got.begin(), got.end()) == expected_[i]);
    }
    return true;
  }

private:
  using kind = operation::kind;

  int below(int n) { return std::uniform_int_distribution<int>{0, n - 1}(random_); }

  void make() {
    auto size = below(5);
    model_.elements.resize(size_t(size));
    model_.grows = below(2);
    model_.clears = below(2);
    model_.same = below(4) == 0;
    model_.extent = below(3) == 0 ? 2 : -1;
    model_.most = size_t(1 + below(4));
    told_ = concat("size ", size, " grows ", model_.grows, " clears ", model_.clears, " same ",
                   model_.same, " extent ", model_.extent);
    auto made = tensor_array_v3(
        g_, size, f64,
        {.element_shape = model_.extent == 2 ? partial_shape{2} : partial_shape::unknown(),
         .dynamic_size = model_.grows,
         .clear_after_read = model_.clears,
         .identical_element_shapes = model_.same});
    handle_ = made.handle;
    flow_ = made.flow;
    last_ = flow_.node;
    stack_ = new_stack_v2(g_, int(model_.most), f64);
  }

  int place() { return below(12) == 0 ? -1 : below(int(model_.elements.size()) + 2); }
  row numbers(int count) {
    row made(static_cast<size_t>(count));
    for (auto& one : made)
      one = ++next_;
    return made;
  }
  int length() { return below(4) == 0 ? below(4) : 2; }

  operation draw_any() {
    operation made{kind(below(9))};
    auto several = made.what == kind::gather || made.what == kind::scatter;
    auto count = several ? below(4) : 1;
    if (made.what == kind::split)
      count = below(3) == 0 ? below(5) : int(model_.elements.size());
    auto each = length();
    for (int i = 0; i < count; ++i) {
      made.places.push_back(made.what == kind::split ? i : place());
      made.rows.push_back(
          numbers(made.what == kind::scatter || made.what == kind::push ? each : length()));
    }
    return made;
  }

  // One that will do, mostly.
  operation draw() {
    auto chosen = draw_any();
    for (int i = 0; i < 8 && below(20); ++i) {
      auto tried = model_;
      if (apply(tried, chosen))
        break;
      chosen = draw_any();
    }
    return chosen;
  }

  static tensor joined(const std::vector<row>& rows, const shape& dims) {
    row all;
    for (const auto& one : rows)
      all.insert(all.end(), one.begin(), one.end());
    return tensor::of(dims.rank() ? dims : shape{std::ssize(all)}, all);
  }

  void add(const operation& one, const std::string& name, const outcome& expected) {
    auto in = g_.after({last_});
    auto index = one.places.empty() ? 0 : one.places[0];
    auto places = tensor::vector(std::vector<int32_t>(one.places.begin(), one.places.end()));
    std::vector<int64_t> lengths;
    for (const auto& each : one.rows)
      lengths.push_back(std::ssize(each));
    edge got;
    switch (one.what) {
      case kind::write:
        flow_ = tensor_array_write_v3(handle_, index, joined(one.rows, {}), flow_, name);
        break;
      case kind::read: got = tensor_array_read_v3(handle_, index, flow_, f64, name); break;
      case kind::gather: got = tensor_array_gather_v3(handle_, places, flow_, f64, name); break;
      case kind::scatter: {
        shape dims{std::ssize(one.rows), lengths.empty() ? 1 : lengths[0]};
        flow_ = tensor_array_scatter_v3(handle_, places, joined(one.rows, dims), flow_, name);
        break;
      }
      case kind::concat: got = tensor_array_concat_v3(handle_, flow_, f64, name).value; break;
      case kind::split:
        flow_ = tensor_array_split_v3(handle_, joined(one.rows, {}), tensor::vector(lengths), flow_,
                                      name);
        break;
      case kind::size: got = cast(tensor_array_size_v3(handle_, flow_, name), f64); break;
      case kind::push: got = stack_push_v2(stack_, joined(one.rows, {}), name); break;
      case kind::pop: got = stack_pop_v2(stack_, f64, name); break;
    }
    told_ += concat("; ", name, ' ', int(one.what), " at ", index);
    last_ = got ? got.node : flow_.node;
    if (got.node && expected) {
      fetches_.push_back(got);
      expected_.push_back(*expected);
    }
  }

  std::mt19937 random_;
  graph_builder g_;
  model model_;
  edge handle_, flow_, stack_;
  node* last_ = nullptr;
  std::vector<edge> fetches_;
  std::vector<row> expected_;
  std::string told_;
  double next_ = 0;
};

} // namespace

TEST_CASE(
    "random programs of TensorArrays and stacks do what a model does, and fail where it does") {
  watchdog watch;
  int ended = 0, failed = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    ++(drawer{seed}.run() ? ended : failed);
  }
  CHECK(ended > 60);
  CHECK(failed > 60);
}

} // namespace troupe::test::tensor_array_random_test
