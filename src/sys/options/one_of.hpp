// SPDX-License-Identifier: BSD-2-Clause
// A std::variant that can be copied when memory is short, for the values of settings
// (settings.hpp). If an allocation fails in the copy constructor of std::variant in libstdc++ 12,
// it destroys a value that was never constructed; here the copy is made before the variant.
#pragma once

#include <utility>
#include <variant>

namespace tenon {

template <class... Types>
class OneOf : public std::variant<Types...> {
  using Variant = std::variant<Types...>;

public:
  using Variant::Variant;
  OneOf(const OneOf& other)
      : Variant(std::visit([](const auto& value) { return Variant(value); },
                           static_cast<const Variant&>(other))) {}
  OneOf(OneOf&&) noexcept = default;
  OneOf& operator=(const OneOf& other) {
    Variant::operator=(OneOf(other));
    return *this;
  }
  OneOf& operator=(OneOf&&) noexcept = default;
  ~OneOf() = default;
};

} // namespace tenon
