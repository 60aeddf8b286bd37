#include "troupe/api/operand.hpp"
// Converts literals to the types of op inputs, and adds nodes with them.

#include "troupe/api/error.hpp"
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

namespace troupe {
namespace {

// Rounds to the nearest value of a floating type, returned as a wider type.
template <class To, class From>
long double rounded_to(From value) {
  if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>)
    return static_cast<float>(To{static_cast<float>(value)});
  else if constexpr (std::is_same_v<To, std::complex<float>>)
    return static_cast<float>(value);
  else if constexpr (std::is_same_v<To, std::complex<double>>)
    return static_cast<double>(value);
  else
    return static_cast<To>(value);
}

template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_same_v<From, bool>) {
    return std::is_same_v<To, bool>;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value == From{0} || value == From{1};
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    // If To has 64 bits, its upper limit is not a double; 2^digits is.
    auto limit = std::ldexp(1.0, std::numeric_limits<To>::digits);
    return std::trunc(value) == value && double(value) < limit &&
           double(value) >= (std::is_signed_v<To> ? -limit : 0.0);
  } else if constexpr (std::is_integral_v<From>) {
    return rounded_to<To>(value) == static_cast<long double>(value);
  } else {
    if (!std::isfinite(value))
      return true;
    auto rounded = rounded_to<To>(value);
    auto is_exact_whole = std::trunc(value) == value &&
                          std::abs(value) <= std::ldexp(From{1}, std::numeric_limits<From>::digits);
    return std::isfinite(rounded) &&
           (!is_exact_whole || rounded == static_cast<long double>(value));
  }
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, std::complex<float>>)
    return {static_cast<float>(value), 0};
  else if constexpr (std::is_same_v<To, std::complex<double>>)
    return {static_cast<double>(value), 0};
  else if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>)
    return To{static_cast<float>(value)};
  else
    return static_cast<To>(value);
}

// Formats with enough digits to identify the value.
template <std::floating_point T>
std::string number_text(T value) {
  char digits[40];
  return {digits, std::to_chars(digits, std::end(digits), value).ptr};
}

template <class To, class From>
result<tensor> convert_all(const tensor& source) {
  TROUPE_ASSIGN(auto converted_values, tensor::make(dtype_of<To>, source.dims()));
  auto* out = converted_values.template data<To>();
  for (auto value : source.values<From>()) {
    if (!fits<To>(value)) {
      if constexpr (std::is_same_v<From, bool>)
        return invalid("the literal ", value ? "true" : "false", " is no ", dtype_of<To>,
                       "; write ", value ? 1 : 0);
      else if constexpr (std::is_integral_v<From>)
        return invalid("the literal ", +value, " is no ", dtype_of<To>);
      else
        return invalid("the literal ", number_text(value), " is no ", dtype_of<To>);
    }
    *out++ = convert<To>(value);
  }
  return converted_values;
}

template <class From>
result<tensor> convert_from(const tensor& source, dtype to) {
  switch (to) {
    case dtype::boolean: return convert_all<bool, From>(source);
    case dtype::u8: return convert_all<uint8_t, From>(source);
    case dtype::u16: return convert_all<uint16_t, From>(source);
    case dtype::u32: return convert_all<uint32_t, From>(source);
    case dtype::u64: return convert_all<uint64_t, From>(source);
    case dtype::i8: return convert_all<int8_t, From>(source);
    case dtype::i16: return convert_all<int16_t, From>(source);
    case dtype::i32: return convert_all<int32_t, From>(source);
    case dtype::i64: return convert_all<int64_t, From>(source);
    case dtype::f16: return convert_all<float16, From>(source);
    case dtype::bf16: return convert_all<bfloat16, From>(source);
    case dtype::f32: return convert_all<float, From>(source);
    case dtype::f64: return convert_all<double, From>(source);
    case dtype::c64: return convert_all<std::complex<float>, From>(source);
    case dtype::c128: return convert_all<std::complex<double>, From>(source);
    case dtype::none:
    case dtype::variant:
    case dtype::string: break;
  }
  return invalid("a number cannot become ", to);
}

/// Returns the type that a literal at input port `port` must take if other inputs or attributes
/// determine it, else none.
dtype wanted_type(const op_def& op, size_t port, const std::vector<detail::operands>& inputs,
                  const attr_map& attrs) {
  auto name = op.inputs[port].type;
  if (auto fixed = dtype_from(name))
    return *fixed;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (op.inputs[i].type == name)
      for (const auto& other : inputs[i]) {
        if (other.is_edge() && !other.source().is_empty())
          return other.source().type();
        if (!other.is_edge() && !other.literal())
          return other.value().type();
      }
  if (auto attr_entry = attrs.find(name); attr_entry != attrs.end())
    if (auto* type = attr_entry->second.get_if<dtype>())
      return *type;
  return dtype::none;
}

edge constant(graph& in, tensor value, std::source_location where) {
  auto type = value.type();
  auto added = in.add(
      {.op = "Const", .attrs = {{"dtype", type}, {"value", std::move(value)}}, .where = where});
  return value_or_throw(std::move(added))->output(0);
}

} // namespace

result<tensor> convert_literal(const tensor& literal, dtype to) {
  if (literal.type() == to)
    return literal;
  switch (literal.type()) {
    case dtype::boolean: return convert_from<bool>(literal, to);
    case dtype::u8: return convert_from<uint8_t>(literal, to);
    case dtype::u16: return convert_from<uint16_t>(literal, to);
    case dtype::u32: return convert_from<uint32_t>(literal, to);
    case dtype::u64: return convert_from<uint64_t>(literal, to);
    case dtype::i8: return convert_from<int8_t>(literal, to);
    case dtype::i16: return convert_from<int16_t>(literal, to);
    case dtype::i32: return convert_from<int32_t>(literal, to);
    case dtype::i64: return convert_from<int64_t>(literal, to);
    case dtype::f32: return convert_from<float>(literal, to);
    case dtype::f64: return convert_from<double>(literal, to);
    default: return invalid("a literal of type ", literal.type(), " cannot become ", to);
  }
}

namespace detail {

operands list(const std::vector<edge>& sources, std::source_location where) {
  operands operand_list;
  for (const auto& item : sources)
    operand_list.emplace_back(item, where);
  return operand_list;
}

node& add_node(graph* in, std::string_view op, std::vector<operands> inputs, attr_map attrs,
               std::string_view name, std::source_location where) {
  auto fail = [&](const auto&... parts) {
    auto quoted_name = name.empty() ? std::string{} : concat(" '", name, "'");
    throw error{invalid(parts...).with_origin(op, name).with_context(
        concat(op, quoted_name, " (", to_string(where), ')'))};
  };
  for (const auto& port : inputs)
    for (const auto& input : port)
      if (input.is_edge()) {
        if (input.source().is_empty())
          fail("input ", &port - inputs.data(), " is an empty edge");
        if (!in)
          in = &input.source().node->graph();
      }
  if (!in)
    fail("no input is an edge, so the graph is unknown; make one of them "
         "with g.constant(...)");
  const auto& def = *value_or_throw(in->ops().find_op(op));

  node_spec spec{
      .op = std::string{op}, .name = std::string{name}, .attrs = std::move(attrs), .where = where};
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const auto& input : inputs[i]) {
      if (input.is_edge()) {
        spec.inputs.push_back(input.source());
        continue;
      }
      auto value = input.value();
      auto type = input.literal() ? wanted_type(def, i, inputs, spec.attrs) : dtype::none;
      if (type != dtype::none) {
        auto exact = convert_literal(value, type);
        if (!exact)
          fail("input '", def.inputs[i].name, "': ", exact.status().message());
        value = *std::move(exact);
      }
      spec.inputs.push_back(constant(*in, std::move(value), where));
    }
  if (const auto* builder = dynamic_cast<const graph_builder*>(in);
      builder && &in->innermost() == in)
    builder->choose_device(spec, def);
  auto& added = *value_or_throw(in->add(std::move(spec)));
  choose_transfer(added);
  return added;
}

std::vector<edge> outputs(node& producer, int first, int behind) {
  std::vector<edge> selected;
  for (int i = first; i < producer.outputs() - behind; ++i)
    selected.push_back(producer.output(i));
  return selected;
}

std::vector<edge> next_outputs(node& producer, int& next, int64_t count) {
  std::vector<edge> selected;
  for (; count > 0; --count)
    selected.push_back(producer.output(next++));
  return selected;
}

} // namespace detail
} // namespace troupe
