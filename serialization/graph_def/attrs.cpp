#include "troupe/serialization/graph_def/values.hpp"

#include <google/protobuf/text_format.h>

namespace troupe::graph_def {
namespace {

// How the alternatives are called in the text form of a file.
std::string_view kind_of(const AttrValue& value) {
  switch (value.value_case()) {
    case AttrValue::kList: return "list";
    case AttrValue::kS: return "string";
    case AttrValue::kI: return "integer";
    case AttrValue::kF: return "float";
    case AttrValue::kB: return "bool";
    case AttrValue::kType: return "type";
    case AttrValue::kShape: return "shape";
    case AttrValue::kTensor: return "tensor";
    case AttrValue::kPlaceholder: return "placeholder";
    case AttrValue::kFunc: return "function";
    case AttrValue::VALUE_NOT_SET: break;
  }
  return "nothing";
}

status mismatch(const AttrValue& from, const attr_def& as) {
  return invalid("attribute ", as.name, " must be of kind ", to_string(as.kind), ", got ",
                 kind_of(from), ' ', to_text(from));
}

// An empty list is one of every kind; one with other items is not of this kind.
bool holds_only(const AttrValue::ListValue& list, int size) {
  return list.s_size() + list.i_size() + list.f_size() + list.b_size() + list.type_size() +
             list.shape_size() + list.tensor_size() + list.func_size() ==
         size;
}

template <class T, class List>
attr_value copied(const List& list) {
  return std::vector<T>(list.begin(), list.end());
}

result<attr_value> read_list(const AttrValue& from, const attr_def& as) {
  const auto& list = from.list();
  auto items = as.kind == attr_kind::integers ? list.i_size()
               : as.kind == attr_kind::reals  ? list.f_size()
               : as.kind == attr_kind::texts  ? list.s_size()
               : as.kind == attr_kind::types  ? list.type_size()
                                              : list.shape_size();
  if (!holds_only(list, items))
    return mismatch(from, as);
  if (as.kind == attr_kind::integers)
    return copied<int64_t>(list.i());
  if (as.kind == attr_kind::reals)
    return copied<double>(list.f());
  if (as.kind == attr_kind::texts)
    return copied<std::string>(list.s());
  if (as.kind == attr_kind::types) {
    std::vector<dtype> types;
    for (auto each : list.type()) {
      TROUPE_ASSIGN(auto type, read_type(each));
      types.push_back(type);
    }
    return attr_value{std::move(types)};
  }
  std::vector<partial_shape> all;
  for (const auto& each : list.shape()) {
    TROUPE_ASSIGN(auto dims, read_shape(each));
    all.push_back(std::move(dims));
  }
  return attr_value{std::move(all)};
}

// Lets a result of any value be one of an attribute.
template <class T>
result<attr_value> as_attr(result<T> value) {
  if (!value)
    return value.status();
  return attr_value{*std::move(value)};
}

} // namespace

result<attr_value> read_attr(const AttrValue& from, const attr_def& as, fill_budget& budget) {
  auto is = [&](AttrValue::ValueCase alternative) { return from.value_case() == alternative; };
  switch (as.kind) {
    case attr_kind::boolean:
      if (is(AttrValue::kB))
        return attr_value{from.b()};
      break;
    case attr_kind::integer:
      if (is(AttrValue::kI))
        return attr_value{int64_t{from.i()}};
      break;
    case attr_kind::real:
      if (is(AttrValue::kF))
        return attr_value{from.f()};
      break;
    case attr_kind::text:
      if (is(AttrValue::kS))
        return attr_value{from.s()};
      break;
    case attr_kind::type:
      if (is(AttrValue::kType))
        return as_attr(read_type(from.type()));
      break;
    case attr_kind::shape:
      if (is(AttrValue::kShape))
        return as_attr(read_shape(from.shape()));
      break;
    case attr_kind::tensor:
      if (is(AttrValue::kTensor))
        return as_attr(read_tensor(from.tensor(), budget));
      break;
    default:
      if (is(AttrValue::kList))
        return read_list(from, as);
  }
  return mismatch(from, as);
}

std::string to_text(const AttrValue& value) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.SetTruncateStringFieldLongerThan(40);
  std::string text;
  printer.PrintToString(value, &text);
  while (text.ends_with(' '))
    text.pop_back();
  constexpr size_t most = 80;
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

} // namespace troupe::graph_def
