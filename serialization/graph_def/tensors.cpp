// Reads tensors from lists of values and from raw bytes.
#include "troupe/serialization/graph_def/values.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>

namespace troupe::graph_def {
namespace {

template <class T>
T with_bits(int32_t bits) {
  T number;
  number.bits = static_cast<uint16_t>(bits);
  return number;
}

class tensor_reader {
public:
  tensor_reader(const TensorProto& from, dtype type, const shape& dims, fill_budget& budget)
      : from_(from), type_(type), dims_(dims), count_(static_cast<size_t>(dims.elements())),
        budget_(budget) {}

  result<tensor> read() {
    if (type_ == dtype::string)
      return from_.tensor_content().empty() ? strings() : packed_strings();
    return from_.tensor_content().empty() ? listed() : raw();
  }

private:
  result<tensor> raw() const {
    const auto& bytes = from_.tensor_content();
    if (count_ > bytes.size() || bytes.size() != count_ * size_of(type_))
      return invalid("a tensor of ", type_, dims_, " takes ", count_, " elements of ",
                     size_of(type_), " bytes, tensor_content has ", bytes.size(), " bytes");
    TROUPE_ASSIGN(auto value, tensor::make(type_, dims_));
    if (type_ == dtype::boolean)
      std::ranges::transform(bytes, value.data<bool>(), [](char byte) { return byte != 0; });
    else if (!bytes.empty())
      std::memcpy(value.raw(), bytes.data(), bytes.size());
    return value;
  }

  result<tensor> listed() {
    switch (type_) {
      case dtype::none:
      case dtype::variant:
      case dtype::string: break;
      case dtype::boolean: return filled<bool>(from_.bool_val());
      case dtype::u8: return narrowed<uint8_t>();
      case dtype::u16: return narrowed<uint16_t>();
      case dtype::i8: return narrowed<int8_t>();
      case dtype::i16: return narrowed<int16_t>();
      case dtype::i32: return filled<int32_t>(from_.int_val());
      case dtype::u32: return filled<uint32_t>(from_.uint32_val());
      case dtype::u64: return filled<uint64_t>(from_.uint64_val());
      case dtype::i64: return filled<int64_t>(from_.int64_val());
      case dtype::f16: return filled<float16>(from_.half_val(), with_bits<float16>);
      case dtype::bf16: return filled<bfloat16>(from_.half_val(), with_bits<bfloat16>);
      case dtype::f32: return filled<float>(from_.float_val());
      case dtype::f64: return filled<double>(from_.double_val());
      case dtype::c64: return pairs<float>(from_.scomplex_val());
      case dtype::c128: return pairs<double>(from_.dcomplex_val());
    }
    return failure(error_kind::internal, "no list has values of ", type_);
  }

  // The last value repeats for missing elements; without any value, they are zero.
  template <class T, class List, class Convert = std::identity>
  result<tensor> filled(const List& list, Convert convert = {}) {
    auto listed = static_cast<size_t>(list.size());
    if (listed > count_)
      return invalid("a tensor of ", type_, dims_, " has ", count_, " elements, ", listed,
                     " values are listed");
    TROUPE_TRY(budget_.take(count_ - listed, sizeof(T)));
    TROUPE_ASSIGN(auto value, tensor::make(type_, dims_));
    auto* unlisted = std::transform(list.begin(), list.end(), value.template data<T>(), convert);
    std::fill_n(unlisted, count_ - listed, listed ? convert(*std::prev(list.end())) : T{});
    return value;
  }

  template <class T>
  result<tensor> narrowed() {
    for (auto value : from_.int_val())
      if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
        return invalid(value, " does not fit ", type_);
    return filled<T>(from_.int_val(), [](int32_t value) { return static_cast<T>(value); });
  }

  template <class T, class List>
  result<tensor> pairs(const List& list) {
    if (list.size() % 2 != 0)
      return invalid("a tensor of ", type_, " lists ", list.size(), " numbers, not pairs");
    std::vector<std::complex<T>> values;
    for (int i = 0; i < list.size(); i += 2)
      values.emplace_back(list[i], list[i + 1]);
    return filled<std::complex<T>>(values);
  }

  result<tensor> strings() {
    const auto& list = from_.string_val();
    if (!list.empty() && static_cast<size_t>(list.size()) < count_)
      TROUPE_TRY(budget_.take(count_ - static_cast<size_t>(list.size()), list.rbegin()->size()));
    return filled<std::string>(list);
  }

  // The format is all lengths as varints, then all bytes.
  result<tensor> packed_strings() const {
    const auto& bytes = from_.tensor_content();
    auto cut_off = [] { return invalid("tensor_content of strings is cut off"); };
    if (count_ > bytes.size())
      return cut_off();
    google::protobuf::io::CodedInputStream in{reinterpret_cast<const uint8_t*>(bytes.data()),
                                              static_cast<int>(bytes.size())};
    std::vector<uint32_t> lengths(count_);
    for (auto& length : lengths)
      if (!in.ReadVarint32(&length))
        return cut_off();
    TROUPE_ASSIGN(auto strings_read, tensor::make(type_, dims_));
    for (size_t i = 0; i < count_; ++i)
      if (lengths[i] > bytes.size() ||
          !in.ReadString(strings_read.data<std::string>() + i, static_cast<int>(lengths[i])))
        return cut_off();
    return strings_read;
  }

  const TensorProto& from_;
  dtype type_;
  shape dims_;
  size_t count_;
  fill_budget& budget_;
};

} // namespace

result<tensor> read_tensor(const TensorProto& from, fill_budget& budget) {
  TROUPE_ASSIGN(auto type, read_stored_type(from.dtype()));
  if (from.tensor_shape().unknown_rank())
    return invalid("the shape of a tensor must be known");
  std::vector<int64_t> extents;
  for (const auto& extent : from.tensor_shape().dim())
    extents.push_back(extent.size());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  return tensor_reader{from, type, dims, budget}.read();
}

} // namespace troupe::graph_def
