#include "troupe/serialization/graph_def/values.hpp"

#include <google/protobuf/text_format.h>

namespace troupe::graph_def {
namespace {

// The names of the alternatives in the text format.
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

status mismatch(const AttrValue& from, const attr_def& declared) {
  return invalid("attribute ", declared.name, " must be of kind ", to_string(declared.kind),
                 ", got ", kind_of(from), ' ', to_text(from));
}

// An empty list fits every kind. A list with items of another kind does not fit.
bool holds_only(const AttrValue::ListValue& list, int size) {
  return list.s_size() + list.i_size() + list.f_size() + list.b_size() + list.type_size() +
             list.shape_size() + list.tensor_size() + list.func_size() ==
         size;
}

template <class T, class List>
attr_value copied(const List& list) {
  return std::vector<T>(list.begin(), list.end());
}

result<attr_value> read_list(const AttrValue& from, const attr_def& declared) {
  const auto& list = from.list();
  auto items = declared.kind == attr_kind::integers ? list.i_size()
               : declared.kind == attr_kind::reals  ? list.f_size()
               : declared.kind == attr_kind::texts  ? list.s_size()
               : declared.kind == attr_kind::types  ? list.type_size()
                                                    : list.shape_size();
  if (!holds_only(list, items))
    return mismatch(from, declared);
  if (declared.kind == attr_kind::integers)
    return copied<int64_t>(list.i());
  if (declared.kind == attr_kind::reals)
    return copied<double>(list.f());
  if (declared.kind == attr_kind::texts)
    return copied<std::string>(list.s());
  if (declared.kind == attr_kind::types) {
    std::vector<dtype> types;
    for (auto item : list.type()) {
      TROUPE_ASSIGN(auto type, read_type(item));
      types.push_back(type);
    }
    return attr_value{std::move(types)};
  }
  std::vector<partial_shape> shapes;
  for (const auto& item : list.shape()) {
    TROUPE_ASSIGN(auto dims, read_shape(item));
    shapes.push_back(std::move(dims));
  }
  return attr_value{std::move(shapes)};
}

// Converts a result of any value to one of an attribute.
template <class T>
result<attr_value> as_attr(result<T> value) {
  if (!value)
    return value.status();
  return attr_value{*std::move(value)};
}

} // namespace

result<attr_value> read_attr(const AttrValue& from, const attr_def& declared, fill_budget& budget) {
  auto has_kind = [&](AttrValue::ValueCase alternative) {
    return from.value_case() == alternative;
  };
  switch (declared.kind) {
    case attr_kind::boolean:
      if (has_kind(AttrValue::kB))
        return attr_value{from.b()};
      break;
    case attr_kind::integer:
      if (has_kind(AttrValue::kI))
        return attr_value{int64_t{from.i()}};
      break;
    case attr_kind::real:
      if (has_kind(AttrValue::kF))
        return attr_value{from.f()};
      break;
    case attr_kind::text:
      if (has_kind(AttrValue::kS))
        return attr_value{from.s()};
      break;
    case attr_kind::type:
      if (has_kind(AttrValue::kType))
        return as_attr(read_type(from.type()));
      break;
    case attr_kind::shape:
      if (has_kind(AttrValue::kShape))
        return as_attr(read_shape(from.shape()));
      break;
    case attr_kind::tensor:
      if (has_kind(AttrValue::kTensor))
        return as_attr(read_tensor(from.tensor(), budget));
      break;
    default:
      if (has_kind(AttrValue::kList))
        return read_list(from, declared);
  }
  return mismatch(from, declared);
}

std::string to_text(const AttrValue& value) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.SetTruncateStringFieldLongerThan(40);
  std::string text;
  printer.PrintToString(value, &text);
  while (text.ends_with(' '))
    text.pop_back();
  constexpr size_t max_length = 80;
  return text.size() > max_length ? text.substr(0, max_length) + "..." : text;
}

} // namespace troupe::graph_def
