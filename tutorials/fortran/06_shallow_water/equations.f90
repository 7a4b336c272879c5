! SPDX-License-Identifier: BSD-2-Clause
! The right-hand side F of solver.f90 as a network of layers without trainable parameters: means between cells, sides
! and corners of the C grid, products, and differences. The library computes the derivatives of the network, so no
! adjoint is written by hand.
module water_equations
  use water_solver
  implicit none
  private
  public :: equations_create

  ! Where values lie, in x and y: at centres of cells, on their left or lower sides, at their lower left corners. All
  ! are as many as cells, since the domain has a period.
  integer, parameter :: left(2) = [TENON_FACES_LOWER, TENON_FACES_NONE]
  integer, parameter :: lower(2) = [TENON_FACES_NONE, TENON_FACES_LOWER]
  integer, parameter :: corner(2) = [TENON_FACES_LOWER, TENON_FACES_LOWER]
  integer, parameter :: ring(2) = [TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC]
contains
  ! Nodes are functions of those that they read: q is -1. Creates the network, from a field to F of it.
  subroutine equations_create(g, graph)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(out) :: graph
    type(tenon_layer) :: layer
    integer :: u, v, h, p, k, fluxes(2), turned(2), joined, ignored
    call tenon_layer_create_graph(g%comm, graph)
    u = component(g, graph, 0)
    v = component(g, graph, 1)
    h = component(g, graph, 2)
    p = potential_vorticity(g, graph, h)
    ! The mean at the centres of u^2 + v^2, whose squares are on the sides.
    k = combined(g, graph, 'add', collocated(g, graph, left, combined(g, graph, 'multiply', u, u)), &
      collocated(g, graph, lower, combined(g, graph, 'multiply', v, v)))
    ! u and v times h on their sides; and p times the means of these at the corners, at the other component's sides.
    fluxes(1) = combined(g, graph, 'multiply', u, staggered(g, graph, left, h))
    fluxes(2) = combined(g, graph, 'multiply', v, staggered(g, graph, lower, h))
    turned(1) = collocated(g, graph, lower, combined(g, graph, 'multiply', p, staggered(g, graph, left, fluxes(2))))
    turned(2) = collocated(g, graph, left, combined(g, graph, 'multiply', p, staggered(g, graph, lower, fluxes(1))))
    call tenon_layer_create_type(g%comm, 'concatenate', layer)
    call tenon_set_integers(layer, 'dim', [1])
    joined = added(graph, layer, [-1, k, fluxes, turned])
    ignored = differences(g, graph, 'rates', 8, fields, joined)
    call tenon_layer_set_data_type(graph, TENON_FLOAT64)
    call tenon_layer_set_up(graph, g%plain)
    call set_vorticity(g, graph)
    call set_rates(g, graph)
  end subroutine equations_create

  ! The number of the new node.
  integer function added(graph, layer, reads) result(node)
    type(tenon_layer), intent(in) :: graph
    type(tenon_layer), intent(inout) :: layer
    integer, intent(in) :: reads(:)
    call tenon_layer_graph_add_node(graph, layer, reads, node)
    call tenon_destroy(layer)
  end function added

  ! A component of q, counted from 0.
  integer function component(g, graph, number) result(node)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(in) :: graph
    integer, intent(in) :: number
    type(tenon_layer) :: layer
    call tenon_layer_create_type(g%comm, 'slice', layer)
    call tenon_set_integers(layer, 'dim', [1])
    call tenon_set_integers(layer, 'begin', [number])
    call tenon_set_integers(layer, 'end', [number + 1])
    node = added(graph, layer, [-1])
  end function component

  ! Means to the left sides, the lower sides or the corners; or back from there.
  integer function staggered(g, graph, to, value) result(node)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(in) :: graph
    integer, intent(in) :: to(2), value
    type(tenon_layer) :: layer
    call tenon_layer_create_stagger(g%comm, to, layer)
    call tenon_layer_set_boundary(layer, ring)
    node = added(graph, layer, [value])
  end function staggered

  integer function collocated(g, graph, from, value) result(node)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(in) :: graph
    integer, intent(in) :: from(2), value
    type(tenon_layer) :: layer
    call tenon_layer_create_collocate(g%comm, from, layer)
    call tenon_layer_set_boundary(layer, ring)
    node = added(graph, layer, [value])
  end function collocated

  ! A product, a quotient or a sum.
  integer function combined(g, graph, type, first, second) result(node)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(in) :: graph
    character(*), intent(in) :: type
    integer, intent(in) :: first, second
    type(tenon_layer) :: layer
    call tenon_layer_create_type(g%comm, type, layer)
    node = added(graph, layer, [first, second])
  end function combined

  ! (f + dv/dx - du/dy) / h at the corners.
  integer function potential_vorticity(g, graph, h) result(node)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(in) :: graph
    integer, intent(in) :: h
    type(tenon_layer) :: shift
    integer :: absolute
    absolute = differences(g, graph, 'vorticity', fields, 1, -1)
    call tenon_layer_create_type(g%comm, 'scale', shift)
    call tenon_set_real(shift, 'shift', coriolis)
    absolute = added(graph, shift, [absolute])
    node = combined(g, graph, 'divide', absolute, staggered(g, graph, corner, h))
  end function potential_vorticity

  ! Differences: a convolution of 3 x 3, whose weights are set when the network is set up.
  integer function differences(g, graph, name, in, out, value) result(node)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(in) :: graph
    character(*), intent(in) :: name
    integer, intent(in) :: in, out, value
    type(tenon_layer) :: layer
    call tenon_layer_create_conv(g%comm, in, out, [3, 3], layer)
    call tenon_set_name(layer, name)
    call tenon_set_bool(layer, 'bias', .false.)
    call tenon_layer_set_padding(layer, [1, 1])
    call tenon_layer_set_boundary(layer, ring)
    node = added(graph, layer, [value])
  end function differences

  ! Of u, v, h: dv/dx - du/dy at the corners. Weights are w(x, y, input, output).
  subroutine set_vorticity(g, graph)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(in) :: graph
    type(tenon_dtensor) :: parameter
    real(real64), pointer :: w(:, :, :, :)
    call tenon_layer_get_parameter_at(graph, 'vorticity/weight', parameter)
    call tenon_get_array(parameter, w)
    w = 0
    w(1:2, 2, 2, 1) = [-1, 1]/g%spacing
    w(2, 1:2, 1, 1) = [1, -1]/g%spacing
    call tenon_restore_array(parameter, w)
    call tenon_destroy(parameter)
  end subroutine set_vorticity

  ! Of u, v, h, the mean u^2 + v^2, U, V, and the means of P U and P V: the rates of u, v and h.
  subroutine set_rates(g, graph)
    type(grid_t), intent(in) :: g
    type(tenon_layer), intent(in) :: graph
    type(tenon_dtensor) :: parameter
    real(real64), pointer :: w(:, :, :, :)
    real(real64) :: r
    integer :: k
    r = 1/g%spacing
    call tenon_layer_get_parameter_at(graph, 'rates/weight', parameter)
    call tenon_get_array(parameter, w)
    w = 0
    do k = 1, 2 ! u and v
      w(1:3, 2, k, k) = viscosity*r*r*[1, -4, 1]
      w(2, 1:3:2, k, k) = viscosity*r*r
    end do
    w(1:2, 2, 3, 1) = gravity*r*[1, -1]
    w(1:2, 2, 4, 1) = r/2*[1, -1]
    w(2, 1:2, 3, 2) = gravity*r*[1, -1]
    w(2, 1:2, 4, 2) = r/2*[1, -1]
    w(2, 2, 7, 1) = 1
    w(2, 2, 8, 2) = -1
    w(2:3, 2, 5, 3) = r*[1, -1]
    w(2, 2:3, 6, 3) = r*[1, -1]
    call tenon_restore_array(parameter, w)
    call tenon_destroy(parameter)
  end subroutine set_rates
end module water_equations
