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

/// A copy of elements from some places to others, in the order of nested loops.
struct strided_copy {
  struct loop {
    int64_t extent = 0;
    int64_t from = 0, to = 0; ///< how many elements further each pass goes
  };
  void* to = nullptr;
  const void* from = nullptr;
  size_t element_bytes = 0; ///< 1, 2, 4, 8 or 16
  int rank = 0;
  std::array<loop, 2 * max_rank> loops = {}; ///< the innermost last
};

/// Memory that the processors can neither read nor write: a GPU's. Lives as long as any of it. What
/// the functions launch runs after what was launched before on its device, and before what is
/// launched later; whoever waits for the device hears of a failure, too.
class TROUPE_API memory_space {
public:
  virtual std::string name() const = 0; ///< "gpu:0"
  /// Copies within it.
  virtual status copy(void* to, const void* from, size_t bytes) const noexcept = 0;
  virtual status copy(const strided_copy& what) const noexcept = 0;
  /// Writes the element, which lies in the host's memory, `count` times.
  virtual status fill(void* to, const void* element, size_t element_bytes,
                      int64_t count) const noexcept = 0;

protected:
  ~memory_space() = default;
};

/// Memory that tensors share. Freed when the last tensor over it is gone, on that thread.
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
  const memory_space* space() const noexcept { return space_; } ///< null: the host's
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

/// Gives out memory for tensors. All functions may be called from any thread.
class TROUPE_API allocator {
public:
  virtual ~allocator() = default;
  /// Returns memory aligned to 64 bytes, or nullptr when there is none.
  virtual void* allocate(size_t bytes) noexcept = 0;
  virtual void deallocate(void* memory, size_t bytes) noexcept = 0;
  /// Where the memory lies; null for the host's.
  virtual const memory_space* space() const noexcept { return nullptr; }
  /// Tells at any moment how much is given out; null where it cannot.
  virtual const memory_usage_source* usage() const noexcept { return nullptr; }
};

inline constexpr size_t tensor_alignment = 64;

/// The process's plain heap.
TROUPE_API allocator& heap_allocator() noexcept;

namespace detail {
[[noreturn]] TROUPE_API void throw_wrong_count(const shape& dims, size_t values);
[[noreturn]] TROUPE_API void throw_wrong_type(dtype asked, dtype held, const shape& dims);
[[noreturn]] TROUPE_API void throw_no_values(dtype asked);
} // namespace detail

/// Cheap to copy: copies share the buffer. Elements lie in row-major order, 64-byte aligned.
class TROUPE_API tensor {
public:
  tensor() noexcept = default; ///< holds nothing: no type, no memory
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

  /// Allocates without initialising numbers (strings and lists start empty). Fails with
  /// resource_exhausted.
  static result<tensor> make(dtype type, const shape& dims, allocator& from = heap_allocator());

  /// Shares memory that already exists; `release` is called with the buffer when it is not used any
  /// more and must free the buffer as well. `memory` must be 64-byte aligned. Throws troupe::error,
  /// and takes nothing, where there is no memory, or too little for the shape.
  static tensor over(buffer* memory, dtype type, const shape& dims);
  /// The same, unchecked: the buffer may be said to have no bytes.
  static tensor raw_over(buffer* memory, dtype type, const shape& dims) noexcept;

  /// Copies values. Throws troupe::error if their number is not that of the shape.
  template <class T>
  static tensor of(const shape& dims, std::span<const T> values) {
    if (dims.elements() != static_cast<int64_t>(values.size()))
      detail::throw_wrong_count(dims, values.size());
    auto made = must_make(dtype_of<T>, dims);
    std::copy(values.begin(), values.end(), made.template data<T>());
    return made;
  }
  template <class T>
  static tensor of(const shape& dims, const std::vector<T>& values) {
    return of(dims, std::span<const T>{values});
  }
  template <class T>
  static tensor of(const shape& dims, std::initializer_list<T> values) {
    return of(dims, std::span<const T>{values.begin(), values.size()});
  }
  template <class T>
  static tensor vector(const std::vector<T>& values) {
    return of(shape{static_cast<int64_t>(values.size())}, std::span<const T>{values});
  }
  template <class T>
  static tensor scalar(T value) {
    return of(shape{}, std::span<const T>{&value, 1});
  }

  dtype type() const noexcept { return type_; }
  const shape& dims() const noexcept { return dims_; }
  int rank() const noexcept { return dims_.rank(); }
  int64_t elements() const noexcept { return dims_.elements(); }
  size_t bytes() const noexcept { return static_cast<size_t>(elements()) * size_of(type_); }
  bool empty() const noexcept { return buffer_ == nullptr; } ///< holds nothing

  /// Where the elements lie; null for the host's memory, as for a tensor that holds nothing.
  const memory_space* space() const noexcept { return buffer_ ? buffer_->space() : nullptr; }
  /// Whether the processors can read the elements.
  bool on_host() const noexcept { return space() == nullptr; }

  /// The elements, whatever their type: what uses the pointer must have looked at type().
  void* raw() const noexcept { return data_; }
  /// The elements; null where the tensor holds nothing. Throws troupe::error, naming both types, if
  /// T is not the C++ type of `type()`. Only the device may follow the pointer where the tensor is
  /// not on the host.
  template <class T>
  T* data() const {
    if (dtype_of<T> != type_ && buffer_) [[unlikely]]
      detail::throw_wrong_type(dtype_of<T>, type_, dims_);
    return static_cast<T*>(data_);
  }
  /// The same as a span, of memory that the tensor must outlive. Throws for a tensor without values.
  template <class T>
  std::span<T> values() const {
    if (!buffer_) [[unlikely]]
      detail::throw_no_values(dtype_of<T>);
    return {data<T>(), static_cast<size_t>(elements())};
  }

  /// Says whether nobody else shares the memory, so that it may be overwritten.
  bool unique() const noexcept { return buffer_ && buffer_->unique(); }

  /// Returns a tensor over the same memory with another shape. Throws troupe::error if that has not
  /// as many elements.
  tensor reshaped(const shape& dims) const;

  /// Copies the elements into memory of its own, which must lie in the same space.
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

/// Prints type, shape and the first values: `f32[2,2] {1, 2, 3, 4}`.
TROUPE_API std::string to_string(const tensor& what, int64_t max_values = 16);
TROUPE_API std::ostream& operator<<(std::ostream& out, const tensor& what);

/// Says whether type, shape and every element's bytes (for strings: text) are equal. Both must be
/// on the host.
TROUPE_API bool identical(const tensor& a, const tensor& b) noexcept;

} // namespace troupe
