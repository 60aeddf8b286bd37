// A typed n-d array over a reference-counted buffer.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/shape.hpp"
#include "troupe/runtime/types/status.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <vector>

namespace troupe {

class allocator;
class memory_usage_source; // runtime/device/memory_usage_source.hpp

/// A strided copy of elements, described as a nest of loops.
struct strided_copy {
  struct loop {
    int64_t extent = 0;
    int64_t source_stride = 0,
            target_stride = 0; ///< the strides of source and destination, in elements
  };
  void* target = nullptr;
  const void* source = nullptr;
  size_t element_bytes = 0; ///< 1, 2, 4, 8 or 16
  int rank = 0;
  std::array<loop, 2 * max_rank> loops = {}; ///< from the outermost to the innermost
};

/// Memory that the CPU can neither read nor write, such as a GPU's. The object lives as long as any
/// memory of the space. The functions launch work that runs in order with other work of the device:
/// after all work launched before and before all work launched later. A failure of the work is also
/// reported to each caller that waits for the device.
class TROUPE_API memory_space {
public:
  virtual std::string name() const = 0; ///< "gpu:0"
  /// Copies bytes within the space.
  virtual status copy(void* to, const void* from, size_t bytes) const noexcept = 0;
  virtual status copy(const strided_copy& request) const noexcept = 0;
  /// Writes the element, which is in host memory, `count` times.
  virtual status fill(void* to, const void* element, size_t element_bytes,
                      int64_t count) const noexcept = 0;

protected:
  ~memory_space() = default;
};

/// Memory that tensors share. The thread that releases the last reference frees it.
class TROUPE_API buffer {
public:
  using release_fn = void (*)(buffer*);

  buffer(void* data, size_t bytes, release_fn release_with, void* context,
         const memory_space* space = nullptr) noexcept
      : data_(data), bytes_(bytes), release_(release_with), context_(context), space_(space) {}
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  void* data() const noexcept { return data_; }
  size_t bytes() const noexcept { return bytes_; }
  void* context() const noexcept { return context_; }
  const memory_space* space() const noexcept { return space_; } ///< null: host memory
  bool unique() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      release_(this);
  }

private:
  void* data_;
  size_t bytes_;
  release_fn release_;
  void* context_;
  const memory_space* space_;
  std::atomic<uint32_t> references_{1};
};

/// Allocates memory for tensors. Any thread may call any function.
class TROUPE_API allocator {
public:
  virtual ~allocator() = default;
  /// Returns memory aligned to 64 bytes, or nullptr if there is not enough.
  virtual void* allocate(size_t bytes) noexcept = 0;
  virtual void deallocate(void* memory, size_t bytes) noexcept = 0;
  /// Returns the space of the memory, or null for host memory.
  virtual const memory_space* space() const noexcept { return nullptr; }
  /// Returns a source of the current memory usage, or null if it is not available.
  virtual const memory_usage_source* usage() const noexcept { return nullptr; }
};

inline constexpr size_t tensor_alignment = 64;

/// Returns the allocator of the process's heap.
TROUPE_API allocator& heap_allocator() noexcept;

namespace detail {
[[noreturn]] TROUPE_API void throw_wrong_count(const shape& dims, size_t values);
[[noreturn]] TROUPE_API void throw_wrong_type(dtype requested, dtype actual, const shape& dims);
[[noreturn]] TROUPE_API void throw_no_values(dtype requested);
} // namespace detail

/// A typed n-d array. Copies are cheap because they share the buffer. Elements are in row-major
/// order, 64-byte aligned.
class TROUPE_API tensor {
public:
  tensor() noexcept = default; ///< empty: no type, no memory
  tensor(const tensor& other) noexcept
      : buffer_(other.buffer_), data_(other.data_), dims_(other.dims_), type_(other.type_) {
    if (buffer_)
      buffer_->retain();
  }
  tensor(tensor&& other) noexcept
      : buffer_(std::exchange(other.buffer_, nullptr)), data_(std::exchange(other.data_, nullptr)),
        dims_(other.dims_), type_(std::exchange(other.type_, dtype::none)) {}
  tensor& operator=(const tensor& other) noexcept {
    tensor copy{other};
    swap(copy);
    return *this;
  }
  tensor& operator=(tensor&& other) noexcept {
    tensor moved{std::move(other)};
    swap(moved);
    return *this;
  }
  ~tensor() {
    if (buffer_)
      buffer_->release();
  }

  /// Allocates a tensor. Numbers are uninitialized; strings and lists are empty. Fails with
  /// resource_exhausted.
  static result<tensor> make(dtype type, const shape& dims, allocator& from = heap_allocator());

  /// Takes ownership of existing memory. The buffer's release function is called with the buffer
  /// when the last reference is gone, and must also free the buffer object. `memory` must be
  /// 64-byte aligned. Throws troupe::error, without taking ownership, if `memory` is null or too
  /// small for the shape.
  static tensor from_buffer(buffer* memory, dtype type, const shape& dims);
  /// Like from_buffer(), without checks: the buffer may state a size of 0 bytes.
  static tensor from_buffer_unchecked(buffer* memory, dtype type, const shape& dims) noexcept;

  /// Copies values. Throws troupe::error if their number differs from the shape's element count.
  template <class T>
  static tensor from_values(const shape& dims, std::span<const T> values) {
    if (dims.elements() != static_cast<int64_t>(values.size()))
      detail::throw_wrong_count(dims, values.size());
    auto copied = must_make(dtype_of<T>, dims);
    std::copy(values.begin(), values.end(), copied.template data<T>());
    return copied;
  }
  template <class T>
  static tensor from_values(const shape& dims, const std::vector<T>& values) {
    return from_values(dims, std::span<const T>{values});
  }
  template <class T>
  static tensor from_values(const shape& dims, std::initializer_list<T> values) {
    return from_values(dims, std::span<const T>{values.begin(), values.size()});
  }
  template <class T>
  static tensor vector(const std::vector<T>& values) {
    return from_values(shape{static_cast<int64_t>(values.size())}, std::span<const T>{values});
  }
  template <class T>
  static tensor scalar(T value) {
    return from_values(shape{}, std::span<const T>{&value, 1});
  }

  dtype type() const noexcept { return type_; }
  const shape& dims() const noexcept { return dims_; }
  int rank() const noexcept { return dims_.rank(); }
  int64_t elements() const noexcept { return dims_.elements(); }
  size_t bytes() const noexcept { return static_cast<size_t>(elements()) * size_of(type_); }
  bool empty() const noexcept { return buffer_ == nullptr; } ///< no type, no memory

  /// Returns the space of the elements, or null for host memory and for an empty tensor.
  const memory_space* space() const noexcept { return buffer_ ? buffer_->space() : nullptr; }
  /// Returns whether the CPU can read the elements.
  bool on_host() const noexcept { return space() == nullptr; }

  /// Returns a pointer to the elements without a check of their type. The caller checks type().
  void* raw() const noexcept { return data_; }
  /// Returns a pointer to the elements, or null for an empty tensor. Throws troupe::error, which
  /// names both types, if T is not the C++ type of `type()`. If the tensor is not on the host, only
  /// its device may dereference the pointer.
  template <class T>
  T* data() const {
    if (dtype_of<T> != type_ && buffer_) [[unlikely]]
      detail::throw_wrong_type(dtype_of<T>, type_, dims_);
    return static_cast<T*>(data_);
  }
  /// Returns the elements as a span. The tensor must outlive it. Throws for an empty tensor.
  template <class T>
  std::span<T> values() const {
    if (!buffer_) [[unlikely]]
      detail::throw_no_values(dtype_of<T>);
    return {data<T>(), static_cast<size_t>(elements())};
  }

  /// Returns whether no other tensor shares the memory, so that it may be overwritten.
  bool unique() const noexcept { return buffer_ && buffer_->unique(); }

  /// Returns a tensor over the same memory with another shape. Throws troupe::error if the element
  /// counts differ.
  tensor reshaped(const shape& dims) const;

  /// Copies the elements into new memory, which must be in the same space.
  result<tensor> clone(allocator& from = heap_allocator()) const;

  void swap(tensor& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(data_, other.data_);
    std::swap(dims_, other.dims_);
    std::swap(type_, other.type_);
  }
  void reset() noexcept { tensor{}.swap(*this); }

private:
  static tensor must_make(dtype type, const shape& dims); ///< throws std::bad_alloc

  buffer* buffer_ = nullptr;
  void* data_ = nullptr;
  shape dims_;
  dtype type_ = dtype::none;
};

/// Returns type, shape and the first values as text: `f32[2,2] {1, 2, 3, 4}`.
TROUPE_API std::string to_string(const tensor& value, int64_t max_values = 16);
TROUPE_API std::ostream& operator<<(std::ostream& out, const tensor& value);

/// Returns whether type, shape and every element's bytes (for strings: text) are equal. Returns
/// false unless both are on the host.
TROUPE_API bool identical(const tensor& a, const tensor& b) noexcept;

} // namespace troupe
