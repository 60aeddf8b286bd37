#include "troupe/ops/list/shared/step_objects.cpu.hpp"

#include "troupe/ops/list/shared/axes.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

constexpr int max_gradients_of_gradients = 100;

// Handles are kept as they are; lists with handles are rejected.
status check_handles(shared_object& holder, const tensor& value, bool may_keep) {
  if (value.type() != dtype::variant)
    return {};
  for (const auto& item : value.values<tensor_list>()) {
    if (item.object && may_keep)
      TROUPE_TRY(holder.keep(*item.object));
    else if (item.has_handles())
      return failure(error_kind::unimplemented, holder.description(),
                     " cannot keep a handle here: hand it on as a value of its own");
  }
  return {};
}

template <class Object>
result<Object*> object_at(const kernel_context& at, std::string_view kind) {
  const auto& input = at.input(0);
  if (input.type() == dtype::variant && input.rank() == 0) {
    const auto& object = input.data<tensor_list>()->object;
    if (auto* typed_object = dynamic_cast<Object*>(object.get()))
      return typed_object;
    if (object)
      return invalid("handle must be that of a ", kind, ", got that of ", object->description());
  }
  return invalid("handle must be that of a ", kind, ", got ", input);
}

} // namespace

// -- TensorArray ----------------------------------------------------------------------------------

result<std::shared_ptr<tensor_array>> tensor_array::make(form settings, int64_t size) {
  std::shared_ptr<tensor_array> array{new tensor_array{std::move(settings)}};
  if (size < 0)
    return array->wrong("size must not be negative, got ", size);
  TROUPE_TRY(array->grow_to(size));
  return array;
}

template <class... Ts>
status tensor_array::wrong(const Ts&... parts) const {
  return invalid(description(), ": ", parts...);
}

std::string tensor_array::description() const { return concat("TensorArray '", form_.name, '\''); }

status tensor_array::check_open() const {
  return is_closed_ ? wrong("it is closed already: close it after all that use it") : status{};
}

status tensor_array::grow_to(int64_t size) {
  if (size > max_elements)
    return failure(error_kind::resource_exhausted, description(), ": it has at most ", max_elements,
                   " elements, wanted ", size);
  if (auto new_size = static_cast<size_t>(size); new_size > elements_.size())
    elements_.resize(new_size);
  return {};
}

result<int64_t> tensor_array::size() const {
  std::lock_guard lock{mutex_};
  TROUPE_TRY(check_open());
  return static_cast<int64_t>(elements_.size());
}

result<int64_t> tensor_array::joined_size() const {
  std::lock_guard lock{mutex_};
  TROUPE_TRY(check_open());
  auto element_count = static_cast<int64_t>(elements_.size());
  return form_.gradient_of > 0 && form_.joined_size >= 0
             ? std::min(form_.joined_size, element_count)
             : element_count;
}

partial_shape tensor_array::dims() const {
  std::lock_guard lock{mutex_};
  return form_.dims;
}

status tensor_array::check_value(int64_t index, const tensor& value) {
  if (value.type() != form_.type)
    return wrong("it has elements of ", form_.type, ", and cannot take ", value.type(),
                 value.dims());
  if (!form_.dims.compatible(value.dims()))
    return wrong("element ", index, " must have shape ", form_.dims, ", got ", value.dims());
  return check_handles(*this, value, form_.gradient_of == 0);
}

status tensor_array::put(kernel_context& at, int64_t index, tensor value) {
  auto size = static_cast<int64_t>(elements_.size());
  if (index < 0)
    return wrong("there is no element ", index);
  if (index >= size && !form_.grows)
    return wrong("there is no element ", index, " among ", size,
                 ": make it larger, or with dynamic_size, which ends where gradients begin");
  TROUPE_TRY(check_value(index, value));
  TROUPE_TRY(grow_to(index + 1));
  if (form_.same_shapes && !form_.dims.fully_known())
    form_.dims = value.dims();
  auto& to = elements_[static_cast<size_t>(index)];
  if (to.is_read)
    return wrong("element ", index, " has been read, and cannot be written any more");
  if (to.is_written && form_.gradient_of == 0)
    return wrong("element ", index, " has been written, and cannot be written again");
  if (!to.is_written) {
    to.dims = value.dims();
    to.value = std::move(value);
    to.is_written = true;
    return {};
  }
  if (!(value.dims() == to.dims))
    return wrong("the gradient of element ", index, " has shape ", to.dims, ", got ", value.dims());
  if (to.value.empty()) {
    to.value = std::move(value);
    return {};
  }
  if (!numbers.contains(form_.type) && form_.type != dtype::variant)
    return wrong("gradients are added up, and ", form_.type, " cannot be");
  return add_to_item(value, to.value, at.memory());
}

status tensor_array::write(kernel_context& at, int64_t index, tensor value) {
  std::lock_guard lock{mutex_};
  TROUPE_TRY(check_open());
  return put(at, index, std::move(value));
}

status tensor_array::write(kernel_context& at, std::span<const int64_t> indices,
                           std::vector<tensor> values, bool joins) {
  std::lock_guard lock{mutex_};
  TROUPE_TRY(check_open());
  auto size = static_cast<int64_t>(elements_.size()), count = static_cast<int64_t>(values.size());
  if (joins) {
    if (form_.grows ? count < size : count != size)
      return wrong("it has ", size, " elements, and gets ", count,
                   form_.grows ? "" : ": make it as large, or with dynamic_size");
    form_.joined_size = count;
  }
  for (size_t i = 0; i < values.size(); ++i)
    TROUPE_TRY(put(at, indices[i], std::move(values[i])));
  return {};
}

// An element that was never written counts as zeros, where its shape is known. An array of
// gradients has such elements where the forward element was not read.
status tensor_array::stand_for_zeros(int64_t index) {
  if (!form_.dims.fully_known())
    return wrong("element ", index, " has not been written, and its shape ", form_.dims,
                 " is not known: write it first, or say element_shape, and it is zeros");
  TROUPE_TRY(grow_to(index + 1));
  auto& element = elements_[static_cast<size_t>(index)];
  element.dims = form_.dims.known();
  element.is_written = true;
  return {};
}

result<tensor> tensor_array::get(kernel_context& at, int64_t index) {
  auto size = static_cast<int64_t>(elements_.size());
  if (index < 0 || (index >= size && form_.gradient_of == 0))
    return wrong("there is no element ", index, " among ", size);
  if (index >= size || !elements_[static_cast<size_t>(index)].is_written)
    TROUPE_TRY(stand_for_zeros(index));
  auto& from = elements_[static_cast<size_t>(index)];
  if (from.is_cleared)
    return wrong("element ", index,
                 " has been read already, which cleared it: set clear_after_read=false");
  auto value = from.value;
  if (value.empty()) {
    if (form_.type == dtype::variant)
      return wrong("element ", index,
                   " has not been written, and how long a list of zeros it would "
                   "be is not known: write it first");
    TROUPE_ASSIGN(value, zeros(at, form_.type, from.dims));
  }
  from.is_read = true;
  if (form_.clears) {
    from.value.reset();
    from.is_cleared = true;
  }
  return value;
}

result<tensor> tensor_array::read(kernel_context& at, int64_t index) {
  std::lock_guard lock{mutex_};
  TROUPE_TRY(check_open());
  return get(at, index);
}

result<std::vector<tensor>> tensor_array::read(kernel_context& at, std::span<const int64_t> indices,
                                               const partial_shape& known_dims) {
  std::lock_guard lock{mutex_};
  TROUPE_TRY(check_open());
  auto merged = merge(form_.dims, known_dims);
  if (!merged)
    return wrong("its elements have shape ", form_.dims, ", element_shape says ", known_dims);
  form_.dims = *std::move(merged);
  std::vector<tensor> values;
  values.reserve(indices.size());
  for (auto index : indices) {
    TROUPE_ASSIGN(auto value, get(at, index));
    if (!form_.dims.compatible(value.dims()))
      return wrong("element ", index, " has shape ", value.dims(), ", element_shape says ",
                   form_.dims);
    values.push_back(std::move(value));
  }
  return values;
}

void tensor_array::close() {
  std::lock_guard lock{mutex_};
  elements_.clear();
  is_closed_ = true;
}

result<std::shared_ptr<tensor_array>> tensor_array::gradient(const std::string& source,
                                                             const shape& further) {
  std::lock_guard lock{mutex_};
  TROUPE_TRY(check_open());
  form_.grows = false;
  auto& gradient_array = gradients_[source];
  if (gradient_array && !(gradient_array->form_.further == further))
    return wrong("its gradients of '", source, "' have further axes ",
                 gradient_array->form_.further, ", and cannot have ", further,
                 " as well: give another source");
  if (gradient_array)
    return gradient_array;
  if (form_.gradient_of == max_gradients_of_gradients)
    return wrong("gradients of gradients have at most ", max_gradients_of_gradients, " levels");
  auto gradient_form = form_;
  gradient_form.name = concat(form_.name, '@', source);
  TROUPE_ASSIGN(gradient_form.dims, with_axes(further.extents(), form_.dims));
  gradient_form.further = further;
  gradient_form.clears =
      form_.gradient_of == 0; // each write that contributed to the sum reads the gradient
  ++gradient_form.gradient_of;
  std::shared_ptr<tensor_array> fresh{new tensor_array{std::move(gradient_form)}};
  fresh->elements_.resize(elements_.size());
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (!elements_[i].is_written)
      continue;
    std::vector<int64_t> extents{further.begin(), further.end()};
    extents.insert(extents.end(), elements_[i].dims.begin(), elements_[i].dims.end());
    TROUPE_ASSIGN(fresh->elements_[i].dims, shape::make(extents));
    fresh->elements_[i].is_written = true;
  }
  gradient_array = std::move(fresh);
  return gradient_array;
}

// -- stack ----------------------------------------------------------------------------------------

template <class... Ts>
status tensor_stack::wrong(const Ts&... parts) const {
  return invalid(description(), ": ", parts...);
}

status tensor_stack::push(tensor value) {
  std::lock_guard lock{mutex_};
  if (is_closed_)
    return wrong("it is closed already: close it after all that use it");
  if (value.type() != type_)
    return wrong("it has elements of ", type_, ", and cannot take ", value.type(), value.dims());
  auto size = static_cast<int64_t>(values_.size());
  if (most_ >= 0 && size >= most_)
    return wrong("it has its ", most_, " elements already: max_size allows no more");
  if (size >= max_elements)
    return failure(error_kind::resource_exhausted, description(), ": it has at most ", max_elements,
                   " elements");
  TROUPE_TRY(check_handles(*this, value, true));
  values_.push_back(std::move(value));
  return {};
}

result<tensor> tensor_stack::pop(dtype type) {
  std::lock_guard lock{mutex_};
  if (is_closed_)
    return wrong("it is closed already: close it after all that use it");
  if (type != type_)
    return wrong("it has elements of ", type_, ", elem_type says ", type);
  if (values_.empty())
    return wrong("it is empty: there is nothing to pop");
  auto value = std::move(values_.back());
  values_.pop_back();
  return value;
}

void tensor_stack::close() {
  std::lock_guard lock{mutex_};
  values_.clear();
  is_closed_ = true;
}

// -- handles --------------------------------------------------------------------------------------

status set_handle(kernel_context& at, std::shared_ptr<shared_object> object) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  out->data<tensor_list>()->object = std::move(object);
  return {};
}

result<tensor_array*> array_at(const kernel_context& at) {
  return object_at<tensor_array>(at, "TensorArray");
}

result<tensor_stack*> stack_at(const kernel_context& at) {
  return object_at<tensor_stack>(at, "stack");
}

} // namespace troupe::ops
