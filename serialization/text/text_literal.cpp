// Tensor literals: f32[[1, 2], [3, 4]], f32(2.5), f32{2,3}[0].
#include "troupe/serialization/text/text_scanner.hpp"

#include <charconv>
#include <cmath>

namespace troupe {

class literal_reader {
public:
  explicit literal_reader(text_scanner& in) : in_(in) {}

  template <class T>
  result<tensor> read() {
    type_ = dtype_of<T>;
    start_ = in_.position();
    if (in_.take('(')) {
      TROUPE_ASSIGN(auto element, value<T>());
      TROUPE_TRY(in_.expect(')', "')'"));
      std::vector<stored<T>> values;
      values.push_back(std::move(element));
      return filled<T>(shape{}, values);
    }
    if (in_.at('{'))
      return flat<T>();
    std::vector<stored<T>> values;
    TROUPE_TRY(nested<T>(values, 0));
    TROUPE_ASSIGN(auto dims, checked_shape());
    return filled<T>(dims, values);
  }

private:
  // A std::vector<bool> has no pointer to its elements.
  template <class T>
  using stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

  template <class T>
  static constexpr bool is_complex = dtype_of<T> == dtype::c64 || dtype_of<T> == dtype::c128;

  template <class T>
  result<tensor> flat() {
    in_.take('{');
    while (!in_.take('}')) {
      if (!extents_.empty())
        TROUPE_TRY(in_.expect(',', "',' or '}'"));
      TROUPE_ASSIGN(auto extent, in_.integer());
      extents_.push_back(extent);
    }
    TROUPE_ASSIGN(auto dims, checked_shape());
    std::vector<stored<T>> values;
    auto listed = in_.list([&]() -> status {
      TROUPE_ASSIGN(auto element, value<T>());
      values.push_back(std::move(element));
      return {};
    });
    TROUPE_TRY(std::move(listed));
    if (values.size() != 1 && static_cast<int64_t>(values.size()) != dims.elements())
      return in_.error_at(start_, "shape ", dims, " takes ", dims.elements(),
                          " values or one for all, got ", values.size());
    return filled<T>(dims, values);
  }

  // Appends the values of a list whose items are on axis `depth`, and sets or checks its extent.
  template <class T>
  status nested(std::vector<stored<T>>& values, int depth) {
    auto start = in_.position();
    if (depth == max_rank)
      return in_.error_at(start, "a tensor has at most ", max_rank, " axes");
    if (static_cast<size_t>(depth) == extents_.size())
      extents_.push_back(-1);
    int64_t count = 0;
    auto listed = in_.list([&]() -> status {
      ++count;
      if (in_.at('[') && !(is_complex<T> && at_pair())) {
        if (rank_ != 0 && depth + 1 >= rank_)
          return in_.unexpected("a value, as in the lists before");
        return nested<T>(values, depth + 1);
      }
      TROUPE_TRY(set_rank(depth + 1));
      TROUPE_ASSIGN(auto element, value<T>());
      values.push_back(std::move(element));
      return {};
    });
    TROUPE_TRY(std::move(listed));
    if (count == 0)
      TROUPE_TRY(set_rank(depth + 1));
    auto& extent = extents_[static_cast<size_t>(depth)];
    if (extent >= 0 && extent != count)
      return in_.error_at(start, "this list has ", count, " items, those before have ", extent);
    extent = count;
    return {};
  }

  status set_rank(int rank) {
    if (rank_ != 0 && rank_ != rank)
      return in_.unexpected("a list, as those before");
    rank_ = rank;
    return {};
  }

  // A complex value is a pair of numbers. Any other list contains lists, or is empty.
  bool at_pair() {
    auto position = in_.at_, depth = static_cast<size_t>(in_.depth_);
    in_.take('[');
    auto is_pair = !in_.at('[') && !in_.at(']');
    in_.at_ = position;
    in_.depth_ = static_cast<int>(depth);
    return is_pair;
  }

  result<shape> checked_shape() {
    auto dims = shape::make(extents_);
    if (!dims)
      return in_.error_at(start_, dims.status().message());
    return dims;
  }

  template <class T>
  result<tensor> filled(const shape& dims, const std::vector<stored<T>>& values) {
    auto elements = static_cast<uint64_t>(dims.elements());
    if (elements > in_.literal_bytes_ / sizeof(T))
      return in_.error_at(start_, "a literal of shape ", dims, " is too large");
    in_.literal_bytes_ -= static_cast<size_t>(elements) * sizeof(T);
    TROUPE_ASSIGN(auto literal, tensor::make(dtype_of<T>, dims));
    auto* elements_out = literal.template data<T>();
    for (size_t i = 0; i < elements; ++i)
      elements_out[i] = static_cast<T>(values[values.size() == 1 ? 0 : i]);
    return literal;
  }

  template <class T>
  result<T> value() {
    if constexpr (std::is_same_v<T, bool>)
      return in_.boolean();
    else if constexpr (std::is_same_v<T, std::string>)
      return in_.quoted();
    else if constexpr (is_complex<T>)
      return pair<typename T::value_type>();
    else if constexpr (std::is_integral_v<T>)
      return integer<T>();
    else
      return real<T>();
  }

  template <class T>
  result<std::complex<T>> pair() {
    if (!in_.take('[')) {
      TROUPE_ASSIGN(auto number, real<T>());
      return std::complex<T>{number};
    }
    TROUPE_ASSIGN(auto real_part, real<T>());
    TROUPE_TRY(in_.expect(',', "',' and the imaginary part"));
    TROUPE_ASSIGN(auto imaginary_part, real<T>());
    TROUPE_TRY(in_.expect(']', "']' after the imaginary part"));
    return std::complex<T>{real_part, imaginary_part};
  }

  template <class T>
  result<T> integer() {
    auto start = in_.position();
    auto digits = in_.word();
    T value{};
    auto end = digits.data() + digits.size();
    auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (!digits.empty() && error == std::errc{} && stop == end)
      return value;
    in_.at_ = start;
    if (error == std::errc::result_out_of_range)
      return in_.unexpected(concat("a number that fits ", type_));
    return in_.unexpected(concat("an integer for ", type_));
  }

  template <class T>
  result<T> real() {
    auto start = in_.position();
    TROUPE_ASSIGN(auto exact, in_.real());
    if constexpr (std::is_same_v<T, double>) {
      return exact;
    } else {
      auto value = static_cast<T>(static_cast<float>(exact));
      if (std::isfinite(exact) && !std::isfinite(static_cast<float>(value)))
        return in_.error_at(start, exact, " does not fit ", type_);
      return value;
    }
  }

  text_scanner& in_;
  dtype type_ = dtype::none;
  size_t start_ = 0;
  int rank_ = 0; // 0: not known yet
  std::vector<int64_t> extents_;
};

result<tensor> text_scanner::literal() {
  TROUPE_ASSIGN(auto element_type, type());
  literal_reader reader{*this};
  switch (element_type) {
    case dtype::variant:
    case dtype::none: break;
    case dtype::boolean: return reader.read<bool>();
    case dtype::u8: return reader.read<uint8_t>();
    case dtype::u16: return reader.read<uint16_t>();
    case dtype::u32: return reader.read<uint32_t>();
    case dtype::u64: return reader.read<uint64_t>();
    case dtype::i8: return reader.read<int8_t>();
    case dtype::i16: return reader.read<int16_t>();
    case dtype::i32: return reader.read<int32_t>();
    case dtype::i64: return reader.read<int64_t>();
    case dtype::f16: return reader.read<float16>();
    case dtype::bf16: return reader.read<bfloat16>();
    case dtype::f32: return reader.read<float>();
    case dtype::f64: return reader.read<double>();
    case dtype::c64: return reader.read<std::complex<float>>();
    case dtype::c128: return reader.read<std::complex<double>>();
    case dtype::string: return reader.read<std::string>();
  }
  return unexpected("a literal");
}

} // namespace troupe
