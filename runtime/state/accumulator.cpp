#include "troupe/runtime/state/accumulator.hpp"

#include "troupe/runtime/types/compute_type.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace troupe {
namespace {

// Calls `act` with a zero of the element type.
template <class Act>
void with_number(dtype type, Act act) {
  switch (type) {
    case dtype::f16: return act(float16{});
    case dtype::bf16: return act(bfloat16{});
    case dtype::f32: return act(float{});
    case dtype::f64: return act(double{});
    case dtype::c64: return act(std::complex<float>{});
    case dtype::c128: return act(std::complex<double>{});
    case dtype::i8: return act(int8_t{});
    case dtype::i16: return act(int16_t{});
    case dtype::i32: return act(int32_t{});
    case dtype::i64: return act(int64_t{});
    case dtype::u8: return act(uint8_t{});
    case dtype::u16: return act(uint16_t{});
    case dtype::u32: return act(uint32_t{});
    case dtype::u64: return act(uint64_t{});
    default: break;
  }
}

// Integers wrap around on overflow.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

template <class T>
T quotient(T sum, int64_t count) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<T>(static_cast<Wide>(sum) / static_cast<Wide>(count));
  } else {
    return sum / static_cast<T>(static_cast<double>(count));
  }
}

// Sums have the type in which kernels compute, so that sums of 16-bit types keep their precision.
void add_elements(const tensor& sums, const tensor& values, int64_t from, int64_t count) {
  with_number(values.type(), [&](auto zero) {
    using T = decltype(zero);
    using C = compute_type<T>;
    auto* sum = sums.data<C>();
    const auto* value = values.data<T>() + from;
    for (int64_t i = 0; i < count; ++i)
      sum[i] = sum_of<C>(sum[i], static_cast<C>(value[i]));
  });
}

void copy_elements(const tensor& sums, const tensor& values, int64_t from, int64_t count) {
  with_number(values.type(), [&](auto zero) {
    using T = decltype(zero);
    std::transform(values.data<T>() + from, values.data<T>() + from + count,
                   sums.data<compute_type<T>>(),
                   [](T value) { return static_cast<compute_type<T>>(value); });
  });
}

shape row_shape(const tensor& rows) {
  shape dims;
  for (int axis = 1; axis < rows.rank(); ++axis)
    dims.push_back(rows.dims()[axis]);
  return dims;
}

} // namespace

template <class... Ts>
status accumulator::wrong(const Ts&... parts) const {
  return invalid("accumulator '", name(), "': ", parts...);
}

accumulator::accumulator(accumulator_options options, allocator& memory)
    : waitable_resource(options.name), options_(std::move(options)), memory_(&memory) {}

result<std::unique_ptr<accumulator>> accumulator::make(accumulator_options options,
                                                       allocator& memory) {
  std::unique_ptr<accumulator> created{new accumulator{std::move(options), memory}};
  if (!numbers.contains(created->options_.type))
    return created->wrong("adds up numbers, not ", created->options_.type);
  return created;
}

dtype accumulator::sum_type() const noexcept {
  return options_.type == dtype::f16 || options_.type == dtype::bf16 ? dtype::f32 : options_.type;
}

status accumulator::check(const tensor& gradient) const {
  if (options_.sparse)
    return wrong("is sparse, and was given a dense gradient");
  if (gradient.type() != options_.type)
    return wrong("takes ", options_.type, ", got ", gradient.type());
  if (!options_.dims.compatible(gradient.dims()))
    return wrong("gradients must have shape ", options_.dims, ", got ", gradient.dims());
  if (count_ > 0 && sum_.dims() != gradient.dims())
    return wrong("has gradients of shape ", sum_.dims(), ", got one of ", gradient.dims());
  return {};
}

status accumulator::check(const sparse_gradient& gradient) const {
  const auto& [indices, rows, dims] = gradient;
  if (!options_.sparse)
    return wrong("is dense, and was given a sparse gradient");
  if (rows.type() != options_.type)
    return wrong("takes ", options_.type, ", got ", rows.type());
  if (indices.type() != dtype::i64 || indices.rank() != 1)
    return wrong("indices must be an i64 vector, got ", indices);
  if (rows.rank() < 1 || rows.dims()[0] != indices.elements())
    return wrong("has ", indices.elements(), " indices for rows of shape ", rows.dims());
  if (options_.dims.has_rank() && options_.dims.rank() != rows.rank())
    return wrong("gradients must have shape ", options_.dims, ", got rows of shape ", rows.dims());
  for (int axis = 1; axis < rows.rank() && options_.dims.has_rank(); ++axis)
    if (options_.dims[axis] >= 0 && options_.dims[axis] != rows.dims()[axis])
      return wrong("gradients must have shape ", options_.dims, ", got rows of shape ",
                   rows.dims());
  if (!rows_.empty() && rows_.begin()->second.sum.dims() != row_shape(rows))
    return wrong("has rows of shape ", rows_.begin()->second.sum.dims(), ", got ", row_shape(rows));
  if (!dims.empty() && (dims.type() != dtype::i64 || dims.rank() != 1 ||
                        (dims.elements() != 0 && dims.elements() != rows.rank())))
    return wrong("the shape must be an i64 vector of ", rows.rank(), ", got ", dims);
  if (!dims.empty() && dims.elements() > 0 && options_.dims.has_rank()) {
    auto given = dims.values<int64_t>();
    for (int axis = 0; axis < options_.dims.rank(); ++axis)
      if (options_.dims[axis] >= 0 && given[static_cast<size_t>(axis)] != options_.dims[axis])
        return wrong("gradients must have shape ", options_.dims, ", got the shape ", dims);
  }
  auto limit = !dims.empty() && dims.elements() > 0 ? dims.values<int64_t>()[0]
               : options_.dims.has_rank() && options_.dims[0] >= 0
                   ? options_.dims[0]
                   : std::numeric_limits<int64_t>::max();
  for (auto index : indices.values<int64_t>())
    if (index < 0 || index >= limit)
      return wrong("index ", index, " is not in 0 to ", limit - 1);
  return {};
}

status accumulator::add(const tensor& gradient) {
  if (count_ == 0) {
    TROUPE_ASSIGN(sum_, tensor::make(sum_type(), gradient.dims(), *memory_));
    copy_elements(sum_, gradient, 0, gradient.elements());
  } else {
    add_elements(sum_, gradient, 0, gradient.elements());
  }
  return {};
}

status accumulator::add(const sparse_gradient& gradient) {
  auto dims = row_shape(gradient.rows);
  auto extent = dims.elements();
  auto indices = gradient.indices.values<int64_t>();
  // Allocates all memory first, so that a failure leaves no partial sum.
  std::vector<std::pair<int64_t, tensor>> new_rows;
  for (auto index : indices)
    if (!rows_.contains(index)) {
      TROUPE_ASSIGN(auto sum, tensor::make(sum_type(), dims, *memory_));
      std::memset(sum.raw(), 0, sum.bytes());
      new_rows.emplace_back(index, std::move(sum));
    }
  for (auto& [index, sum] : new_rows)
    rows_.try_emplace(index, row{std::move(sum), 0});
  std::vector<int64_t> distinct{indices.begin(), indices.end()};
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (auto index : distinct)
    ++rows_.at(index).count;
  for (size_t i = 0; i < indices.size(); ++i)
    add_elements(rows_.at(indices[i]).sum, gradient.rows, static_cast<int64_t>(i) * extent, extent);
  if (!gradient.dims.empty() && gradient.dims.elements() > 0)
    dims_ = gradient.dims;
  return {};
}

template <class Gradient>
void accumulator::apply_any(request_id request, int64_t local_step, const Gradient& gradient,
                            answers& done, int64_t contributor) {
  auto outcome = check(gradient);
  if (outcome && local_step >= global_step_ && !contributors_.contains(contributor)) {
    outcome = add(gradient);
    if (outcome) {
      ++count_;
      if (contributor >= 0)
        contributors_.insert(contributor);
    }
  }
  done.push_back({request, std::move(outcome)});
  serve(done);
}

void accumulator::apply(request_id request, int64_t local_step, const tensor& gradient,
                        answers& done, int64_t contributor) {
  apply_any(request, local_step, gradient, done, contributor);
}

void accumulator::apply(request_id request, int64_t local_step, const sparse_gradient& gradient,
                        answers& done, int64_t contributor) {
  apply_any(request, local_step, gradient, done, contributor);
}

void accumulator::take(request_id request, int64_t required, answers& done) {
  if (required < 1) {
    done.push_back({request, wrong("num_required must be at least 1, got ", required)});
    return;
  }
  takes_.push_back({request, required});
  serve(done);
}

void accumulator::serve(answers& done) {
  while (!takes_.empty() && count_ >= takes_.front().required) {
    auto request = takes_.front().id;
    takes_.pop_front();
    auto total = total_of_gradients();
    if (!total) {
      done.push_back({request, total.status()});
      continue;
    }
    done.push_back({request, {}, *std::move(total)});
    count_ = 0;
    contributors_.clear();
    sum_.reset();
    rows_.clear();
    ++global_step_;
  }
}

result<tensor> accumulator::finish(const tensor& sum, int64_t count) const {
  TROUPE_ASSIGN(auto quotients, tensor::make(options_.type, sum.dims(), *memory_));
  with_number(options_.type, [&](auto zero) {
    using T = decltype(zero);
    using C = compute_type<T>;
    auto divisor = options_.mean ? count : 1;
    std::transform(sum.data<C>(), sum.data<C>() + sum.elements(), quotients.data<T>(),
                   [divisor](C element) { return static_cast<T>(quotient(element, divisor)); });
  });
  return quotients;
}

result<std::vector<tensor>> accumulator::total_of_gradients() {
  if (!options_.sparse) {
    TROUPE_ASSIGN(auto total, finish(sum_, count_));
    return std::vector{std::move(total)};
  }
  auto count = static_cast<int64_t>(rows_.size());
  auto row_dims = rows_.empty() ? shape{} : rows_.begin()->second.sum.dims();
  if (rows_.empty() && options_.dims.has_rank()) {
    row_dims = {};
    for (int axis = 1; axis < options_.dims.rank(); ++axis)
      row_dims.push_back(std::max<int64_t>(options_.dims[axis], 0));
  }
  std::vector<int64_t> extents{count};
  extents.insert(extents.end(), row_dims.begin(), row_dims.end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto indices, tensor::make(dtype::i64, shape{count}, *memory_));
  TROUPE_ASSIGN(auto values, tensor::make(options_.type, dims, *memory_));
  auto bytes = static_cast<size_t>(row_dims.elements()) * size_of(options_.type);
  size_t position = 0;
  for (const auto& [index, sum_of_row] : rows_) {
    TROUPE_ASSIGN(auto row,
                  finish(sum_of_row.sum, options_.divide_by_total ? count_ : sum_of_row.count));
    indices.data<int64_t>()[position] = index;
    if (bytes > 0)
      std::memcpy(static_cast<char*>(values.raw()) + position * bytes, row.raw(), bytes);
    ++position;
  }
  // The dense shape, as far as it is known.
  if (dims_.empty()) {
    std::vector<int64_t> dense_dims;
    if (options_.dims.has_rank())
      dense_dims.assign(options_.dims.extents().begin(), options_.dims.extents().end());
    dims_ = tensor::vector(dense_dims);
  }
  return std::vector{std::move(indices), std::move(values), dims_};
}

status accumulator::declare_again(const waitable_resource& other) const {
  const auto& redeclared = static_cast<const accumulator&>(other).options_;
  auto described = [](const accumulator_options& options) {
    return concat(options.sparse ? "sparse " : "", options.type, options.dims,
                  !options.mean             ? ", sum"
                  : options.divide_by_total ? ", mean of all"
                                            : ", mean");
  };
  if (redeclared.type != options_.type || redeclared.mean != options_.mean ||
      redeclared.sparse != options_.sparse ||
      redeclared.divide_by_total != options_.divide_by_total ||
      !redeclared.dims.compatible(options_.dims))
    return invalid("accumulator '", name(), "' exists as ", described(options_),
                   ", and is declared again as ", described(redeclared));
  return {};
}

void accumulator::cancel(const request_filter& selected, const status& reason, answers& done) {
  fail_requests(takes_, selected, reason, done);
  serve(done);
}

void accumulator::clear(const status& reason, answers& done) {
  fail_requests(takes_, request_filter::every(), reason, done);
  count_ = 0;
  contributors_.clear();
  sum_.reset();
  rows_.clear();
}

void accumulator::reset(const status& reason, answers& done) {
  clear(reason, done);
  global_step_ = 0;
  dims_.reset();
}

std::string accumulator::describe() const {
  auto text = concat(count_, " gradients for step ", global_step_);
  if (!takes_.empty())
    text += concat(", ", takes_.size(), " wait for ", takes_.front().required);
  return text;
}

std::string accumulator::element_type_text() const { return concat(options_.type, options_.dims); }

uint64_t accumulator::bytes() const {
  uint64_t total = sum_.empty() ? 0 : sum_.bytes();
  for (const auto& [index, row_sum] : rows_)
    total += row_sum.sum.bytes();
  return total;
}

} // namespace troupe
