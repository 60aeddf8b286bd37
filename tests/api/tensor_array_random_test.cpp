// Random programs of TensorArray and stack ops, compared with a model of a few lines.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
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
constexpr auto invalid_operation = std::nullopt;

// A tensor array as its documentation describes it; nullopt for an error.
struct model {
  struct element {
    row value = {};
    bool written = false, read = false, cleared = false;
  };
  std::vector<element> elements = {};
  bool grows = false, clears = false, equal_shapes = false;
  int64_t extent = -1; // of elements, where it is known
  std::vector<row> stack = {};
  size_t max_stack = 0;

  outcome write(int position, row value) {
    if (position < 0 || (!grows && position >= int(elements.size())) ||
        (extent >= 0 && extent != std::ssize(value)))
      return invalid_operation;
    if (position >= int(elements.size()))
      elements.resize(size_t(position) + 1);
    if (equal_shapes)
      extent = std::ssize(value);
    auto& slot = elements[size_t(position)];
    if (slot.written || slot.read)
      return invalid_operation;
    slot = {std::move(value), true};
    return row{};
  }
  outcome read(int position) {
    if (position < 0 || position >= int(elements.size()))
      return invalid_operation;
    auto& from = elements[size_t(position)];
    if (!from.written && extent < 0)
      return invalid_operation;
    if (!from.written)
      from = {row(size_t(extent)), true};
    if (from.cleared)
      return invalid_operation;
    from.read = true;
    from.cleared = clears;
    return from.value;
  }
  std::vector<int> all_positions() const {
    std::vector<int> result(elements.size());
    std::iota(result.begin(), result.end(), 0);
    return result;
  }
  outcome join(const std::vector<int>& positions, bool same_shape) {
    auto first = positions.empty() ? extent : -1;
    row joined;
    for (auto position : positions) {
      auto read_row = read(position);
      if (!read_row || (same_shape && first >= 0 && first != std::ssize(*read_row)))
        return invalid_operation;
      first = std::ssize(*read_row);
      joined.insert(joined.end(), read_row->begin(), read_row->end());
    }
    return first >= 0 ? outcome{joined} : invalid_operation;
  }
};

struct operation {
  enum class kind { write, read, gather, scatter, concat, split, size, push, pop } what;
  std::vector<int> places = {};
  std::vector<row> rows = {};
};

outcome apply(model& target, const operation& step_done) {
  using kind = operation::kind;
  switch (step_done.what) {
    case kind::write: return target.write(step_done.places[0], step_done.rows[0]);
    case kind::read: return target.read(step_done.places[0]);
    case kind::gather: return target.join(step_done.places, true);
    case kind::concat: return target.join(target.all_positions(), false);
    case kind::size: return row{double(target.elements.size())};
    case kind::push:
      if (target.stack.size() == target.max_stack)
        return invalid_operation;
      target.stack.push_back(step_done.rows[0]);
      return step_done.rows[0];
    case kind::pop: {
      if (target.stack.empty())
        return invalid_operation;
      auto last = target.stack.back();
      target.stack.pop_back();
      return last;
    }
    case kind::split:
      if (target.grows ? step_done.rows.size() < target.elements.size()
                       : step_done.rows.size() != target.elements.size())
        return invalid_operation;
      break;
    case kind::scatter: break;
  }
  for (size_t i = 0; i < step_done.rows.size(); ++i) // of scatter and split
    if (!target.write(step_done.places[i], step_done.rows[i]))
      return invalid_operation;
  return row{};
}

class drawer {
public:
  explicit drawer(uint32_t seed) : random_(seed) {}

  // Returns whether the program ran to its end.
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
    std::vector<tensor> result;
    auto error_text = error_text_of([&] { result = s.run({}, fetches_, {last_}); });
    INFO(log_);
    if (failed >= 0) {
      CHECK_THAT(error_text, Catch::Matchers::Contains(concat("'op_", failed, "'")));
      return false;
    }
    REQUIRE(error_text == "no error");
    for (size_t i = 0; i < fetches_.size(); ++i) {
      auto got = result[i].values<double>();
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
    model_.equal_shapes = below(4) == 0;
    model_.extent = below(3) == 0 ? 2 : -1;
    model_.max_stack = size_t(1 + below(4));
    log_ = concat("size ", size, " grows ", model_.grows, " clears ", model_.clears, " same ",
                  model_.equal_shapes, " extent ", model_.extent);
    auto created = tensor_array_v3(
        g_, size, f64,
        {.element_shape = model_.extent == 2 ? partial_shape{2} : partial_shape::unknown(),
         .dynamic_size = model_.grows,
         .clear_after_read = model_.clears,
         .identical_element_shapes = model_.equal_shapes});
    handle_ = created.handle;
    flow_ = created.flow;
    last_ = flow_.node;
    stack_ = new_stack_v2(g_, int(model_.max_stack), f64);
  }

  int draw_position() { return below(12) == 0 ? -1 : below(int(model_.elements.size()) + 2); }
  row numbers(int count) {
    row new_row(static_cast<size_t>(count));
    for (auto& number : new_row)
      number = ++next_value_;
    return new_row;
  }
  int length() { return below(4) == 0 ? below(4) : 2; }

  operation draw_any() {
    operation drawn{kind(below(9))};
    auto has_several_places = drawn.what == kind::gather || drawn.what == kind::scatter;
    auto count = has_several_places ? below(4) : 1;
    if (drawn.what == kind::split)
      count = below(3) == 0 ? below(5) : int(model_.elements.size());
    auto row_length = length();
    for (int i = 0; i < count; ++i) {
      drawn.places.push_back(drawn.what == kind::split ? i : draw_position());
      drawn.rows.push_back(
          numbers(drawn.what == kind::scatter || drawn.what == kind::push ? row_length : length()));
    }
    return drawn;
  }

  // A valid operation, mostly.
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
    row flat;
    for (const auto& row_values : rows)
      flat.insert(flat.end(), row_values.begin(), row_values.end());
    return tensor::from_values(dims.rank() ? dims : shape{std::ssize(flat)}, flat);
  }

  void add(const operation& drawn, const std::string& name, const outcome& expected) {
    auto order = g_.after({last_});
    auto index = drawn.places.empty() ? 0 : drawn.places[0];
    auto places = tensor::vector(std::vector<int32_t>(drawn.places.begin(), drawn.places.end()));
    std::vector<int64_t> lengths;
    for (const auto& row_values : drawn.rows)
      lengths.push_back(std::ssize(row_values));
    edge result;
    switch (drawn.what) {
      case kind::write:
        flow_ = tensor_array_write_v3(handle_, index, joined(drawn.rows, {}), flow_, name);
        break;
      case kind::read: result = tensor_array_read_v3(handle_, index, flow_, f64, name); break;
      case kind::gather: result = tensor_array_gather_v3(handle_, places, flow_, f64, name); break;
      case kind::scatter: {
        shape dims{std::ssize(drawn.rows), lengths.empty() ? 1 : lengths[0]};
        flow_ = tensor_array_scatter_v3(handle_, places, joined(drawn.rows, dims), flow_, name);
        break;
      }
      case kind::concat: result = tensor_array_concat_v3(handle_, flow_, f64, name).value; break;
      case kind::split:
        flow_ = tensor_array_split_v3(handle_, joined(drawn.rows, {}), tensor::vector(lengths),
                                      flow_, name);
        break;
      case kind::size: result = cast(tensor_array_size_v3(handle_, flow_, name), f64); break;
      case kind::push: result = stack_push_v2(stack_, joined(drawn.rows, {}), name); break;
      case kind::pop: result = stack_pop_v2(stack_, f64, name); break;
    }
    log_ += concat("; ", name, ' ', int(drawn.what), " at ", index);
    last_ = result ? result.node : flow_.node;
    if (result.node && expected) {
      fetches_.push_back(result);
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
  std::string log_;
  double next_value_ = 0;
};

} // namespace

TEST_CASE("random programs of TensorArrays and stacks agree with a model, and fail where it does") {
  watchdog watch;
  int ended_count = 0, failed = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    ++(drawer{seed}.run() ? ended_count : failed);
  }
  CHECK(ended_count > 60);
  CHECK(failed > 60);
}

} // namespace troupe::test::tensor_array_random_test
