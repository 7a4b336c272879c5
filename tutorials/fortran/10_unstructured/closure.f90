! SPDX-License-Identifier: BSD-2-Clause
! The closure: a step of message passing that computes from the flow q a field p. Additional fluxes on the coarse mesh
! are along the gradient of p, downward, so they conserve mass for every p.
!
!   q[n+1] = S(q[n]) + dt D N(q[n]),       N = unit * network((q - rest) / scale)
!
! The network: a message from each cell to each of its neighbours, f(q there, q here, normal of the side); their sum at
! each cell; and p = g(q, sum). f and g have a hidden layer each.
module sphere_closure
  use sphere_mesh
  use sphere_solver
  use tenon
  implicit none
  private
  public :: closure_create, closure_destroy, closure_apply, closure_adjoint
  integer, parameter :: hidden = 16, message = 8, normal = 3
  ! The size of departures from rest, and the unit of the network's output.
  real(real64), parameter :: scale = 0.05_real64, unit = 0.02_real64
  real(real64), parameter :: rest(fields) = [1, 0, 0, 0]

  type, public :: closure_t
    type(solver_t) :: solver
    type(tenon_layer) :: network
    type(tenon_optimizer) :: optimizer
    type(tenon_dtensor), allocatable :: x(:) ! inputs of as many evaluations as wait for their adjoints, used in turn
    type(tenon_dtensor) :: normals, y, dy, dx
    integer :: next
    real(real64), allocatable :: work(:, :)
  end type closure_t
contains
  ! `depth` evaluations can wait for their adjoints.
  subroutine closure_create(solver, depth, c)
    type(solver_t), intent(in) :: solver
    integer, intent(in) :: depth
    type(closure_t), intent(out) :: c
    integer :: n
    c%solver = solver
    c%next = 1
    call create_field(solver%mesh, c%work)
    call create_network(c, depth)
    call fill_normals(solver%mesh, c%normals)
    allocate (c%x(depth))
    do n = 1, depth
      call tenon_dtensor_create(solver%mesh%plain, TENON_FLOAT64, c%x(n))
    end do
    call tenon_layer_create_output(c%network, 1, c%y)
    call tenon_layer_create_output_cotangent(c%network, 1, c%dy)
    call tenon_layer_create_input_cotangent(c%network, 1, c%dx)
    ! The solver's arrays are on the host, wherever the network runs (-tenon_space device).
    call tenon_dtensor_set_space(c%y, TENON_MEMORY_HOST)
    call tenon_dtensor_set_space(c%dy, TENON_MEMORY_HOST)
  end subroutine closure_create

  subroutine create_mlp(c, widths, layer)
    type(closure_t), intent(in) :: c
    integer, intent(in) :: widths(:)
    type(tenon_layer), intent(out) :: layer
    call tenon_layer_create_type(c%solver%mesh%comm, 'columnmlp', layer)
    call tenon_set_integers(layer, 'widths', widths)
    call tenon_set_text(layer, 'activation', 'tanh')
  end subroutine create_mlp

  subroutine create_network(c, depth)
    type(closure_t), intent(inout) :: c
    integer, intent(in) :: depth
    type(tenon_layer) :: f, g
    type(tenon_layout) :: on_edges
    call create_mlp(c, [2*fields + normal, hidden, message], f)
    call create_mlp(c, [fields + message, hidden, fields], g)
    call tenon_layer_create_message_passing(f, g, 2, 'sum', c%network)
    call tenon_destroy(g)
    call tenon_destroy(f)
    call tenon_layer_set_edges(c%network, '', c%solver%mesh%edges)
    call tenon_layer_set_data_type(c%network, TENON_FLOAT64)
    call tenon_layer_set_stack_depth(c%network, depth)
    call tenon_set_from_options(c%network)
    call tenon_edges_get_layout(c%solver%mesh%edges, [normal, 0], on_edges)
    call tenon_dtensor_create(on_edges, TENON_FLOAT64, c%normals)
    call tenon_layer_set_up_many(c%network, [c%solver%mesh%plain, on_edges])
    call tenon_destroy(on_edges)
    call tenon_layer_initialize(c%network, 1)
    call tenon_optimizer_create(c%network, 'adam', c%optimizer)
  end subroutine create_network

  ! The rows of edges: unit normals.
  subroutine fill_normals(m, normals)
    type(mesh_t), intent(in) :: m
    type(tenon_dtensor), intent(in) :: normals
    real(real64), pointer :: rows(:, :)
    integer :: s
    call tenon_get_array(normals, rows)
    rows = reshape(m%normals, [normal, sides*m%owned])
    do s = lbound(rows, 2), ubound(rows, 2)
      rows(:, s) = rows(:, s)/norm2(rows(:, s))
    end do
    call tenon_restore_array(normals, rows)
  end subroutine fill_normals

  subroutine closure_destroy(c)
    type(closure_t), intent(inout) :: c
    integer :: n
    call tenon_destroy(c%dx)
    call tenon_destroy(c%dy)
    call tenon_destroy(c%y)
    do n = 1, size(c%x)
      call tenon_destroy(c%x(n))
    end do
    call tenon_destroy(c%normals)
    call tenon_destroy(c%optimizer)
    call tenon_destroy(c%network)
  end subroutine closure_destroy

  ! next <- next + dt D N(q); with `training` with all that the adjoint needs.
  subroutine closure_apply(c, training, q, next)
    type(closure_t), intent(inout), target :: c
    logical, intent(in) :: training
    real(real64), intent(in) :: q(:, :)
    real(real64), intent(inout) :: next(:, :)
    type(tenon_dtensor) :: x
    real(real64), pointer :: rows(:, :)
    integer :: i, owned
    owned = c%solver%mesh%owned
    x = c%x(c%next)
    c%next = mod(c%next, size(c%x)) + 1
    call tenon_get_array(x, rows)
    do i = 1, owned
      rows(:, lbound(rows, 2) + i - 1) = (q(:, i) - rest)/scale
    end do
    call tenon_restore_array(x, rows)
    call tenon_place(c%y, c%work(:, :owned), array=c%work)
    call tenon_layer_set_training(c%network, training)
    call tenon_layer_apply_many(c%network, [x, c%normals], [c%y])
    call solver_diffuse(c%solver, c%solver%dt*unit, c%work, next)
  end subroutine closure_apply

  ! gradient <- gradient + (dt D N')* w, and adds to the gradients of the weights.
  subroutine closure_adjoint(c, w, gradient)
    type(closure_t), intent(inout), target :: c
    real(real64), intent(in) :: w(:, :)
    real(real64), intent(inout) :: gradient(:, :)
    type(tenon_dtensor) :: none
    real(real64), pointer :: rows(:, :)
    integer :: owned
    owned = c%solver%mesh%owned
    call solver_diffuse_adjoint(c%solver, c%solver%dt*unit, w, c%work)
    call tenon_place(c%dy, c%work(:, :owned), array=c%work)
    call tenon_layer_apply_adjoint_many(c%network, [c%dy], [c%dx, none])
    call tenon_get_array_read(c%dx, rows)
    gradient(:, :owned) = gradient(:, :owned) + rows/scale
    call tenon_restore_array_read(c%dx, rows)
  end subroutine closure_adjoint
end module sphere_closure
