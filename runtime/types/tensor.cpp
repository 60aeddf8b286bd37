#include "troupe/runtime/types/tensor.hpp"

#include "troupe/runtime/types/error.hpp"
#include "troupe/runtime/types/printable.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <new>
#include <ostream>
#include <sstream>

namespace troupe {
namespace {

class plain_heap final : public allocator {
public:
  void* allocate(size_t bytes) noexcept override {
    return ::operator new (bytes, std::align_val_t{tensor_alignment}, std::nothrow);
  }
  void deallocate(void* memory, size_t) noexcept override {
    ::operator delete (memory, std::align_val_t{tensor_alignment});
  }
};

// One allocation holds the buffer object and, after it, the aligned elements.
constexpr size_t header = tensor_alignment;
static_assert(sizeof(buffer) <= header);

void release_numbers(buffer* memory) {
  auto* from = static_cast<allocator*>(memory->context());
  auto bytes = memory->bytes();
  memory->~buffer();
  from->deallocate(memory, bytes + header);
}

template <class T>
void release_objects(buffer* memory) {
  std::destroy_n(static_cast<T*>(memory->data()), memory->bytes() / sizeof(T));
  release_numbers(memory);
}

// Default-constructs elements that are C++ objects.
template <class T>
buffer::release_fn construct_objects(void* elements, int64_t count) {
  std::uninitialized_default_construct_n(static_cast<T*>(elements), count);
  return release_objects<T>;
}

// For memory of a device, the buffer object is a separate allocation on the heap.
void release_device_memory(buffer* memory) {
  auto* from = static_cast<allocator*>(memory->context());
  from->deallocate(memory->data(), memory->bytes());
  delete memory;
}

template <class T>
void print_values(std::ostream& out, const tensor& printed, int64_t max_values) {
  auto values = printed.values<T>();
  for (int64_t i = 0; i < printed.elements(); ++i) {
    out << (i ? ", " : "");
    if (i == max_values) {
      out << "...";
      return;
    }
    const auto& value = values[static_cast<size_t>(i)];
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      out << static_cast<float>(value);
    else if constexpr (std::is_same_v<T, std::string>)
      out << in_quotes(value);
    else if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>)
      out << static_cast<int>(value);
    else
      out << value;
  }
}

void print_values(std::ostream& out, const tensor& printed, int64_t max_values) {
  switch (printed.type()) {
    case dtype::none: break;
    case dtype::boolean: return print_values<bool>(out, printed, max_values);
    case dtype::u8: return print_values<uint8_t>(out, printed, max_values);
    case dtype::u16: return print_values<uint16_t>(out, printed, max_values);
    case dtype::u32: return print_values<uint32_t>(out, printed, max_values);
    case dtype::u64: return print_values<uint64_t>(out, printed, max_values);
    case dtype::i8: return print_values<int8_t>(out, printed, max_values);
    case dtype::i16: return print_values<int16_t>(out, printed, max_values);
    case dtype::i32: return print_values<int32_t>(out, printed, max_values);
    case dtype::i64: return print_values<int64_t>(out, printed, max_values);
    case dtype::f16: return print_values<float16>(out, printed, max_values);
    case dtype::bf16: return print_values<bfloat16>(out, printed, max_values);
    case dtype::f32: return print_values<float>(out, printed, max_values);
    case dtype::f64: return print_values<double>(out, printed, max_values);
    case dtype::c64: return print_values<std::complex<float>>(out, printed, max_values);
    case dtype::c128: return print_values<std::complex<double>>(out, printed, max_values);
    case dtype::string: return print_values<std::string>(out, printed, max_values);
    case dtype::variant: return print_values<tensor_list>(out, printed, max_values);
  }
}

status out_of_memory(size_t bytes, dtype type, const shape& dims) {
  return failure(error_kind::resource_exhausted, "out of memory: ", bytes, " bytes for ", type,
                 dims);
}

result<tensor> make_in_space(dtype type, const shape& dims, size_t bytes, allocator& from) {
  if (type == dtype::string || type == dtype::variant)
    return invalid(type, "s cannot be stored in the memory of ", from.space()->name());
  auto* memory = bytes > SIZE_MAX / 2 ? nullptr : from.allocate(bytes);
  if (!memory)
    return out_of_memory(bytes, type, dims);
  return tensor::from_buffer_unchecked(
      new buffer{memory, bytes, release_device_memory, &from, from.space()}, type, dims);
}

} // namespace

namespace detail {

void throw_wrong_count(const shape& dims, size_t values) {
  throw error{invalid("a tensor of shape ", dims, " has ", dims.elements(), " elements, got ",
                      values, values == 1 ? " value" : " values")};
}

void throw_wrong_type(dtype requested, dtype actual, const shape& dims) {
  throw error{invalid("the elements of a tensor ", actual, dims, " were requested as ", requested)};
}

void throw_no_values(dtype requested) {
  throw error{invalid("the elements of an empty tensor were requested as ", requested)};
}

} // namespace detail

allocator& heap_allocator() noexcept {
  static plain_heap heap;
  return heap;
}

result<tensor> tensor::make(dtype type, const shape& dims, allocator& from) {
  auto bytes = size_of(type);
  bool overflow = false; // the size of a broadcast or extended shape has not been checked before
  for (auto extent : dims)
    overflow |= __builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes);
  if (type == dtype::none || overflow)
    return invalid("cannot make a tensor of type ", type, " and shape ", dims);
  if (from.space())
    return make_in_space(type, dims, bytes, from);
  auto* memory = bytes > SIZE_MAX / 2 ? nullptr : from.allocate(bytes + header);
  if (!memory)
    return out_of_memory(bytes, type, dims);
  auto* elements = static_cast<char*>(memory) + header;
  auto release = type == dtype::string ? construct_objects<std::string>(elements, dims.elements())
                 : type == dtype::variant
                     ? construct_objects<tensor_list>(elements, dims.elements())
                     : release_numbers;
  auto* elements_buffer = new (memory) buffer{elements, bytes, release, &from};
  return from_buffer_unchecked(elements_buffer, type, dims);
}

tensor tensor::from_buffer(buffer* memory, dtype type, const shape& dims) {
  auto needed = static_cast<size_t>(dims.elements()) * size_of(type);
  if (!memory || memory->bytes() < needed)
    throw error{invalid("a tensor ", type, dims, " takes ", needed, " bytes, and the memory has ",
                        memory ? memory->bytes() : 0)};
  return from_buffer_unchecked(memory, type, dims);
}

tensor tensor::from_buffer_unchecked(buffer* memory, dtype type, const shape& dims) noexcept {
  tensor view;
  view.buffer_ = memory;
  view.data_ = memory->data();
  view.dims_ = dims;
  view.type_ = type;
  return view;
}

tensor tensor::must_make(dtype type, const shape& dims) {
  auto allocated = make(type, dims);
  if (!allocated)
    throw std::bad_alloc{};
  return *std::move(allocated);
}

tensor tensor::reshaped(const shape& dims) const {
  if (dims.elements() != elements())
    throw error{invalid("a tensor of shape ", dims_, " has ", elements(),
                        " elements, and cannot have shape ", dims, " with ", dims.elements())};
  tensor view{*this};
  view.dims_ = dims;
  return view;
}

result<tensor> tensor::clone(allocator& from) const {
  if (space() != from.space())
    return failure(error_kind::internal, "a tensor ",
                   space() ? "of " + space()->name() : "of the host",
                   " cannot be cloned elsewhere");
  TROUPE_ASSIGN(auto copy, make(type_, dims_, from));
  if (type_ == dtype::string)
    std::ranges::copy(values<std::string>(), copy.data<std::string>());
  else if (type_ == dtype::variant)
    std::ranges::copy(values<tensor_list>(), copy.data<tensor_list>());
  else if (bytes() > 0 && space())
    TROUPE_TRY(space()->copy(copy.raw(), raw(), bytes()));
  else if (bytes() > 0)
    std::memcpy(copy.raw(), raw(), bytes());
  return copy;
}

std::string to_string(const tensor& value, int64_t max_values) {
  std::ostringstream out;
  out << value.type() << value.dims();
  if (!value.on_host()) {
    out << " on " << value.space()->name();
    return std::move(out).str();
  }
  out << " {" << std::boolalpha;
  print_values(out, value, max_values);
  out << '}';
  return std::move(out).str();
}

std::ostream& operator<<(std::ostream& out, const tensor& value) { return out << to_string(value); }

bool identical(const tensor& a, const tensor& b) noexcept {
  if (a.type() != b.type() || !(a.dims() == b.dims()) || !a.on_host() || !b.on_host())
    return false;
  if (a.type() == dtype::string)
    return std::ranges::equal(a.values<std::string>(), b.values<std::string>());
  if (a.type() == dtype::variant)
    return std::ranges::equal(a.values<tensor_list>(), b.values<tensor_list>());
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

} // namespace troupe
