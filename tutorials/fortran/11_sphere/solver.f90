! SPDX-License-Identifier: BSD-2-Clause
! The barotropic vorticity equation on a rotating sphere of radius 1, for the vorticity z of a wind v without divergence,
!
!   dz/dt = -div ((z + f) v),     f = 2 rotation cos(colatitude),
!
! by spectral transforms: z is stored as coefficients of spherical harmonics, its wind and z itself are computed on Gauss
! points, and the divergence of the flux there is transformed back. The points are so many that the products have no
! aliasing. In time: the classical method of Runge and Kutta, then damping by a factor of each degree. The transforms are
! layers, whose adjoints Tenon has; only the product at the points between them is differentiated by hand.
module spectral_solver
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: solver_create, solver_destroy, solver_create_field, solver_step, solver_adjoint
  integer, parameter, public :: stage_count = 4
  real(real64), parameter, public :: rotation = 6.28318530717958647692_real64 ! a turn in a unit of time
  real(real64), parameter :: weights(stage_count) = [1, 2, 2, 1]/6.0_real64
  ! Of the argument of each rate; the last entry is of none.
  real(real64), parameter :: shifts(stage_count + 1) = [0.0_real64, 0.5_real64, 0.5_real64, 1.0_real64, 0.0_real64]

  type, public :: solver_t
    type(MPI_Comm) :: comm
    integer :: degrees, rows, columns
    real(real64) :: dt
    type(tenon_layout) :: spectral           ! (2, degrees, orders, 1, 1), orders split among the processes
    integer, allocatable :: order(:)         ! of each place in the dimension of orders
    real(real64), allocatable :: coriolis(:) ! f in each row
    type(tenon_layer) :: synthesis           ! (divergence 0, vorticity; vorticity) -> (wind; vorticity)
    type(tenon_layer) :: analysis            ! flux -> (divergence, vorticity)
    type(tenon_layer) :: damping
    type(tenon_dtensor) :: input, fields, flux, output, d_input, d_fields, d_flux, d_output
    type(tenon_dtensor) :: rate, total, stage(stage_count), work
  end type solver_t
contains
  ! A transform with two components of a vector: channel 1, counted from 0, along the columns, and 0 along the rows.
  subroutine create_transform(s, type, input, layer)
    type(solver_t), intent(in) :: s
    character(len=*), intent(in) :: type
    type(tenon_layout), intent(in) :: input
    type(tenon_layer), intent(out) :: layer
    call tenon_layer_create_type(s%comm, type, layer)
    call tenon_set_integers(layer, 'degrees', [s%degrees])
    call tenon_set_integers(layer, 'vectors', [1, 0])
    call tenon_set_text(layer, 'vector_output', 'div_vort')
    if (type == 'inversesht') call tenon_set_integers(layer, 'size', [s%columns, s%rows])
    call set_up(layer, input)
  end subroutine create_transform

  subroutine set_up(layer, input)
    type(tenon_layer), intent(in) :: layer
    type(tenon_layout), intent(in) :: input
    call tenon_layer_set_data_type(layer, TENON_FLOAT64)
    call tenon_layer_set_up(layer, input)
    call tenon_layer_set_training(layer, .false.)
  end subroutine set_up

  ! `damping` is the rate at which the highest degree decays.
  subroutine solver_create(processes, comm, degrees, dt, damping, s)
    type(tenon_partition), intent(in) :: processes
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: degrees
    real(real64), intent(in) :: dt, damping
    type(solver_t), intent(out) :: s
    real(real64), allocatable :: colatitude(:), weight(:)
    type(tenon_layout) :: input, points
    integer :: n
    s%comm = comm
    s%degrees = degrees
    s%rows = (3*degrees + 1)/2 + 1
    s%columns = 2*s%rows
    s%dt = dt
    call tenon_layout_create_sharded(processes, [2, degrees, degrees, 1, 1], 'S2', s%spectral)
    call tenon_layout_create_sharded(processes, [2, degrees, degrees, 3, 1], 'S2', input)
    call tenon_layout_create_sharded(processes, [s%columns, s%rows, 2, 1], 'S2', points)
    call create_transform(s, 'inversesht', input, s%synthesis)
    call create_transform(s, 'sht', points, s%analysis)
    call tenon_layer_create_type(comm, 'degreeproduct', s%damping)
    call tenon_set_text(s%damping, 'filter', 'diffusion')
    call tenon_set_real(s%damping, 'power', 4.0_real64)
    call tenon_set_real(s%damping, 'rate', dt*damping/real(degrees*(degrees - 1), real64)**4)
    call set_up(s%damping, s%spectral)
    call tenon_dtensor_create(input, TENON_FLOAT64, s%input)
    call tenon_dtensor_create(points, TENON_FLOAT64, s%flux)
    call tenon_layer_create_output(s%synthesis, 1, s%fields)
    call tenon_layer_create_output(s%analysis, 1, s%output)
    call tenon_layer_create_input_cotangent(s%synthesis, 1, s%d_input)
    call tenon_layer_create_output_cotangent(s%synthesis, 1, s%d_fields)
    call tenon_layer_create_input_cotangent(s%analysis, 1, s%d_flux)
    call tenon_layer_create_output_cotangent(s%analysis, 1, s%d_output)
    call solver_create_field(s, s%rate)
    call solver_create_field(s, s%total)
    call solver_create_field(s, s%work)
    do n = 1, stage_count
      call solver_create_field(s, s%stage(n))
    end do
    call tenon_destroy(points)
    call tenon_destroy(input)
    allocate (s%order(degrees), colatitude(s%rows), weight(s%rows))
    call tenon_sphere_get_orders(s%order)
    call tenon_sphere_get_rows('gauss', colatitude, weight)
    s%coriolis = 2*rotation*cos(colatitude)
  end subroutine solver_create

  subroutine solver_destroy(s)
    type(solver_t), intent(inout) :: s
    integer :: n
    do n = 1, stage_count
      call tenon_destroy(s%stage(n))
    end do
    call tenon_destroy(s%work)
    call tenon_destroy(s%total)
    call tenon_destroy(s%rate)
    call tenon_destroy(s%d_output)
    call tenon_destroy(s%d_flux)
    call tenon_destroy(s%d_fields)
    call tenon_destroy(s%d_input)
    call tenon_destroy(s%output)
    call tenon_destroy(s%flux)
    call tenon_destroy(s%fields)
    call tenon_destroy(s%input)
    call tenon_destroy(s%damping)
    call tenon_destroy(s%analysis)
    call tenon_destroy(s%synthesis)
    call tenon_destroy(s%spectral)
  end subroutine solver_destroy

  ! Coefficients of one field.
  subroutine solver_create_field(s, z)
    type(solver_t), intent(in) :: s
    type(tenon_dtensor), intent(out) :: z
    call tenon_dtensor_create(s%spectral, TENON_FLOAT64, z)
  end subroutine solver_create_field

  ! Channel i of `to` <- factors(i) z.
  subroutine set_channels(z, factors, to)
    type(tenon_dtensor), intent(in) :: z, to
    real(real64), intent(in) :: factors(:)
    real(real64), pointer :: from(:, :, :, :, :), array(:, :, :, :, :)
    integer :: i
    call tenon_get_array_read(z, from)
    call tenon_get_array(to, array)
    do i = 1, size(factors)
      array(:, :, :, i, 1) = factors(i)*from(:, :, :, 1, 1)
    end do
    call tenon_restore_array(to, array)
    call tenon_restore_array_read(z, from)
  end subroutine set_channels

  ! z <- the sum of factors(i) times channel i of `from`.
  subroutine add_channels(from, factors, z)
    type(tenon_dtensor), intent(in) :: from, z
    real(real64), intent(in) :: factors(:)
    real(real64), pointer :: array(:, :, :, :, :), to(:, :, :, :, :)
    integer :: i
    call tenon_get_array_read(from, array)
    call tenon_get_array(z, to)
    to = 0
    do i = 1, size(factors)
      to(:, :, :, 1, 1) = to(:, :, :, 1, 1) + factors(i)*array(:, :, :, i, 1)
    end do
    call tenon_restore_array(z, to)
    call tenon_restore_array_read(from, array)
  end subroutine add_channels

  ! The wind and the vorticity of z, and their flux (z + f) v, at the points.
  subroutine find_flux(s, z)
    type(solver_t), intent(inout) :: s
    type(tenon_dtensor), intent(in) :: z
    real(real64), pointer :: q(:, :, :, :), flux(:, :, :, :)
    integer :: y
    call set_channels(z, [0.0_real64, 1.0_real64, 1.0_real64], s%input)
    call tenon_layer_apply(s%synthesis, s%input, s%fields)
    call tenon_get_array_read(s%fields, q)
    call tenon_get_array(s%flux, flux)
    do y = lbound(q, 2), ubound(q, 2)
      flux(:, y, 1, 1) = (q(:, y, 3, 1) + s%coriolis(y))*q(:, y, 1, 1)
      flux(:, y, 2, 1) = (q(:, y, 3, 1) + s%coriolis(y))*q(:, y, 2, 1)
    end do
    call tenon_restore_array(s%flux, flux)
    call tenon_restore_array_read(s%fields, q)
  end subroutine find_flux

  ! rate <- minus the divergence of the flux.
  subroutine find_rate(s, z, rate)
    type(solver_t), intent(inout) :: s
    type(tenon_dtensor), intent(in) :: z, rate
    call find_flux(s, z)
    call tenon_layer_apply(s%analysis, s%flux, s%output)
    call add_channels(s%output, [-1.0_real64], rate)
  end subroutine find_rate

  ! From the cotangent of the flux to those of the wind and of the vorticity.
  subroutine find_flux_adjoint(s)
    type(solver_t), intent(inout) :: s
    real(real64), pointer :: q(:, :, :, :), w(:, :, :, :), z(:, :, :, :)
    integer :: y
    call tenon_get_array_read(s%fields, q)
    call tenon_get_array_read(s%d_flux, w)
    call tenon_get_array(s%d_fields, z)
    do y = lbound(q, 2), ubound(q, 2)
      z(:, y, 1, 1) = (q(:, y, 3, 1) + s%coriolis(y))*w(:, y, 1, 1)
      z(:, y, 2, 1) = (q(:, y, 3, 1) + s%coriolis(y))*w(:, y, 2, 1)
      z(:, y, 3, 1) = q(:, y, 1, 1)*w(:, y, 1, 1) + q(:, y, 2, 1)*w(:, y, 2, 1)
    end do
    call tenon_restore_array(s%d_fields, z)
    call tenon_restore_array_read(s%d_flux, w)
    call tenon_restore_array_read(s%fields, q)
  end subroutine find_flux_adjoint

  ! rate <- R'(z)* w. The transforms are evaluated again, since their adjoints follow on that.
  subroutine find_rate_adjoint(s, z, w, rate)
    type(solver_t), intent(inout) :: s
    type(tenon_dtensor), intent(in) :: z, w, rate
    call tenon_layer_set_training(s%synthesis, .true.)
    call tenon_layer_set_training(s%analysis, .true.)
    call find_flux(s, z)
    call tenon_layer_apply(s%analysis, s%flux, s%output)
    call set_channels(w, [-1.0_real64, 0.0_real64], s%d_output)
    call tenon_layer_apply_adjoint(s%analysis, s%d_output, s%d_flux)
    call find_flux_adjoint(s)
    call tenon_layer_apply_adjoint(s%synthesis, s%d_fields, s%d_input)
    call add_channels(s%d_input, [0.0_real64, 1.0_real64, 1.0_real64], rate)
    call tenon_layer_set_training(s%analysis, .false.)
    call tenon_layer_set_training(s%synthesis, .false.)
  end subroutine find_rate_adjoint

  ! z <- S(z). `stages` receives the arguments of the rates, which the adjoint needs; it may be s%stage.
  subroutine solver_step(s, z, stages)
    type(solver_t), intent(inout) :: s
    type(tenon_dtensor), intent(in) :: z, stages(:)
    integer :: n
    call tenon_dtensor_copy(z, s%total)
    do n = 1, stage_count
      call tenon_dtensor_copy(z, stages(n))
      if (n > 1) call tenon_dtensor_axpby(s%dt*shifts(n), s%rate, 1.0_real64, stages(n))
      call find_rate(s, stages(n), s%rate)
      call tenon_dtensor_axpby(s%dt*weights(n), s%rate, 1.0_real64, s%total)
    end do
    call tenon_layer_apply(s%damping, s%total, z)
  end subroutine solver_step

  ! w <- S'(z)* w. From the last rate to the first: the cotangent of a rate is that of the sum, and that of the next
  ! argument. Damping is its own adjoint.
  subroutine solver_adjoint(s, stages, w)
    type(solver_t), intent(inout) :: s
    type(tenon_dtensor), intent(in) :: stages(:), w
    integer :: n
    call tenon_layer_apply(s%damping, w, s%total)
    call tenon_dtensor_copy(s%total, w)
    do n = stage_count, 1, -1
      call tenon_dtensor_copy(s%total, s%work)
      call tenon_dtensor_scale(s%dt*weights(n), s%work)
      if (n < stage_count) call tenon_dtensor_axpby(s%dt*shifts(n + 1), s%rate, 1.0_real64, s%work)
      call find_rate_adjoint(s, stages(n), s%work, s%rate)
      call tenon_dtensor_axpby(1.0_real64, s%rate, 1.0_real64, w)
    end do
  end subroutine solver_adjoint
end module spectral_solver
